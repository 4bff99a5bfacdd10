"""Use a model server: two settings are all it takes, here for a server that this example starts itself.

`ScriptedServer` is the double that Habilis tests its own client with: it speaks the OpenAI protocol on loopback and can
fail on demand. Here its third request is answered with 429, which costs a moment and not the task. For a real server
put its address in `base_url`; the key comes from the environment variable that `api_key_env` names.
"""

import asyncio
from pathlib import Path

from habilis import Team, load_settings
from habilis.testing import Fault, ScriptedServer

DATA = Path(__file__).parent / "data"


async def main() -> None:
    with ScriptedServer(faults=[None, None, Fault("rate_limit")]) as server:
        settings = load_settings(
            overrides=[
                f"models.basic.base_url={server.base_url}",
                "models.basic.model=scripted",
                "models.builder.max_tokens=2000",  # a role can differ from the rest in any setting
                "models.probe_judges=false",  # this stand-in is no judge; a real model is tried once, on planted cases
            ]
        )
        result = await Team(settings).run("What is the median price in sales.csv?", files=[DATA / "sales.csv"])
        print(f"{result.status}: {result.final_answer}")
        print("requests that the server saw:", len(server.requests))
        for role, usage in sorted(result.usage_by_role.items()):
            print(f"{role}: {usage.model_calls} calls, {usage.prompt_tokens} prompt tokens")


if __name__ == "__main__":
    asyncio.run(main())
