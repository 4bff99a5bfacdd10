"""How often a model is asked for an answer in one form: less, once it has shown that it gives none."""

from __future__ import annotations

from habilis.messages.bounds import USELESS


class Patience:
    """What came of the structured questions of one task, by model and form."""

    def __init__(self) -> None:
        self._gave: set[str] = set()
        self._spent: set[tuple[str, str]] = set()

    def replies(self, model: str, form: str) -> int:
        """Replies of no use that end a question: one where this form, or every form so far, was asked for in vain."""
        return 1 if (model, form) in self._spent or self.gives_nothing(model) else USELESS

    def gave(self, model: str, form: str) -> None:
        """Note a reply that can be used: the form is asked for as often as ever again."""
        self._gave.add(model)
        self._spent.discard((model, form))

    def ended(self, model: str, form: str) -> None:
        """Note a question that ended without any."""
        self._spent.add((model, form))

    def gives_nothing(self, model: str) -> bool:
        """Whether `model` was asked for answers in a form, and gave not one."""
        return model not in self._gave and any(known == model for known, _ in self._spent)
