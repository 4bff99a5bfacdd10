"""What a source shows of its effects: a call that is answered from the record, run twice or run beside others because
its tool passed for purer than it is would give a wrong answer or do damage."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.contract.bindings import Code
from habilis.contract.contract import read_contract
from habilis.contract.effects import infer_effects, stronger

PURE = [
    "return sum(input.values)",
    "text = input.text.replace('a', 'b')",
    "items = [3, 1]; items.remove(1); items.sort()",
    "import re; return re.compile('a+').findall(input.text)",
    "import copy; return copy.copy(input.values)",
    "from collections import Counter; c = Counter(input.text); c.update('a')",
    "import json; return json.loads(input.text)",
    "import math; return getattr(math, input.function)(input.x)",
    "value = getattr(input, input.field)",
    "import datetime; return datetime.date.fromisoformat(input.text)",
    "from urllib.parse import urlsplit; return urlsplit(input.text).hostname",
    "import os; return os.path.join('a', 'b') + os.sep",
    "import statistics; return statistics.mean(input.values)",
    "import hashlib; return hashlib.sha256(input.text.encode()).hexdigest()",
    "import io, csv; return list(csv.reader(io.StringIO(input.text)))",
    "from pathlib import PurePosixPath; return PurePosixPath(input.path).suffix",
    "from operator import attrgetter; return sorted(input.items, key=attrgetter('x'))",
    "run_twice = lambda f: f(f); return run_twice(lambda x: x)",
    "import ast; return ast.literal_eval(input.text)",
    "import string; return string.Template('$a').substitute(a=1)",
    "remove = 1; delete = remove + 1",
    "def save(x): return x\nreturn save(1)",
    "import statistics; return statistics.NormalDist().samples(3, seed=1)",
    "import pickle; return len(pickle.dumps(input.values))",
    "import pandas as pd; return pd.DataFrame(input.rows).to_json()",
    "import pandas as pd; return pd.DataFrame(input.rows).to_json(orient='records')",
    "import pandas as pd; return pd.DataFrame(input.rows).to_csv(None, index=False)",
    "import pandas as pd; return pd.DataFrame(input.rows).groupby('a').mean().to_dict()",
    "import pandas as pd; return pd.DataFrame(input.rows).query('a > 1')",
    "import pandas as pd; return pd.Timestamp('2021-01-02').day_name()",
    "import pandas as pd; return pd.Series(input.values).sample(2, random_state=1)",
    "import numpy as np; return float(np.mean(input.values))",
    "from numpy.linalg import solve; return solve(input.a, input.b).tolist()",
    "import sqlite3; c = sqlite3.connect(':memory:'); return c.execute('select 1 + 1').fetchone()",
    "from sqlite3 import connect; c = connect(':memory:'); c.execute('create table t (a)'); "
    "c.executemany('insert into t values (?)', input.rows)",
]
READS = [
    "from operator import attrgetter; import datetime; return attrgetter('now')(datetime.datetime)()",
    "import statistics; return statistics.NormalDist().samples(3)",
    "import io; return io.open_code(input.path).read()",
    "import logging; return logging.LogRecord('a', 1, 'b', 1, 'c', (), None).created",
    "import logging; return logging.getLogger().makeRecord('a', 1, 'b', 1, 'c', (), None).created",
    "import pandas as pd; return pd.read_csv(input.path).to_json()",
    "import pandas as pd; return pd.Timestamp('now')",
    "import pandas as pd; return pd.Timestamp.now()",
    "import pandas as pd; return pd.to_datetime(input.day)",
    "import pandas as pd; return pd.Series(input.values).sample(2)",
    "import numpy as np; return np.random.default_rng().random()",
    "from numpy import random; return random.rand()",
    "import numpy as np; return np.load(input.path).sum()",
    "import numpy as np; return np.datetime64('today')",
    "import numpy as np; return np.empty(3).tolist()",
    "import sympy; return str(sympy.solve(input.equation))",
    "import sqlite3; c = sqlite3.connect(':memory:'); return c.execute(\"select datetime('now')\").fetchone()",
    "return open(input.path).read()",
    "return open(input.path, 'rb').read()",
    "return open(file=input.path, mode='r').read()",
    "import io; return io.open(input.path, 'rt').read()",
    "import codecs; return codecs.open(input.path, 'r', 'utf-8').read()",
    "import gzip; return gzip.open(input.path, 'rb').read()",
    "from pathlib import Path; return Path(input.path).read_text()",
    "from pathlib import Path; return Path(input.path).open().read()",
    "from pathlib import Path; f = Path(input.path).read_text; return f()",
    "import os; return os.listdir('.')",
    "import os as o; return o.environ['HOME']",
    "from os import getenv as g; return g('A')",
    "import random; return random.random()",
    "import time; return time.time()",
    "from datetime import datetime as d; return d.now().isoformat()",
    "from datetime import datetime; n = datetime.now; return n()",
    "from datetime import date; return date.today()",
    "import uuid; return str(uuid.uuid4())",
    "import secrets; return secrets.token_hex()",
    "import requests; return requests.get(input.url).text",
    "import urllib.request; return urllib.request.urlopen(input.url).read()",
    "import httpx; return httpx.request('GET', input.url).text",
    "import pandas as pd; return pd.read_csv(input.path).to_csv()",
    "import unheard_of; return unheard_of.thing()",
    "return id(input)",
    "import sys; return sys.argv",
    "import os.path; return os.path.exists(input.path)",
    "from os.path import getsize as s; return s(input.path)",
    "from pathlib import Path; return [p for p in Path('.').rglob('*')]",
    "from PIL import Image; return Image.open(input.path).size",
    "import bs4, io; out = io.StringIO(); out.write('a'); return out.getvalue() + bs4.BeautifulSoup(input.text).text",
    "import yaml; return yaml.dump(input.values)",
    "import xml.etree.ElementTree as E; return E.tostring(E.parse(input.path).getroot())",
    "import lxml.etree as E, sys; sys.stdout.write('a'); return E.parse(input.path)",
    "import openpyxl; return [row for row in openpyxl.load_workbook(input.path, read_only=True).active.values]",
]
WRITES = [
    "import xml.etree.ElementTree as E; tree = E.parse(input.path); tree.write('o.xml')",
    "from xml.etree.ElementTree import ElementTree as T; T(input.root).write('o.xml')",
    "from lxml import etree; etree.ElementTree(input.root).write(input.path)",
    "import pypdf; w = pypdf.PdfWriter(); w.write(input.path)",
    "import soundfile as sf; sf.write(input.path, [1], 8000)",
    "import scipy.io; scipy.io.savemat(input.path, {})",
    "import joblib; joblib.dump(1, input.path)",
    "import geopandas as g; g.read_file(input.path).to_file('a')",
    "import pyarrow.parquet as q; q.write_table(None, input.path)",
    "import polars as pl; pl.DataFrame().write_csv(input.path)",
    "import networkx as nx; nx.write_gml(nx.Graph(), input.path)",
    "import xlsxwriter; xlsxwriter.Workbook(input.path).close()",
    "from fpdf import FPDF; FPDF().output(input.path)",
    "import boto3; boto3.client('s3').put_object()",
    "import redis; redis.Redis().set('a', 1)",
    "import psycopg2; psycopg2.connect(input.url).cursor().execute('delete from a')",
    "from google.cloud import storage; storage.Client().bucket('a').blob('b').upload_from_string('c')",
    "import urllib.request; urllib.request.urlretrieve(input.url, 'a')",
    "import operator; return operator.attrgetter(input.name)(input)",
    "import pandas as pd; pd.DataFrame(input.rows).to_json(input.path)",
    "import pandas as pd; pd.DataFrame(input.rows).to_csv(path_or_buf=input.path)",
    "import pandas as pd; return pd.DataFrame(input.rows).to_json(**input.options)",
    "import pandas as pd; f = pd.DataFrame(input.rows).to_json; return f('a')",
    "import pandas as pd; return pd.DataFrame(input.rows).eval(input.formula)",
    "import pandas as pd; return pd.DataFrame(input.rows).query('@f(1)')",
    "import pandas as pd; return pd.DataFrame(input.rows).to_parquet(input.path)",
    "import numpy as np; np.save('a.npy', input.values)",
    "import pickle; return pickle.loads(input.data)",
    "import sqlite3; return sqlite3.connect(input.path)",
    "import sqlite3; return sqlite3.connect('a.db')",
    "import sqlite3; c = sqlite3.connect(':memory:'); return c.execute(input.sql).fetchall()",
    "import sqlite3; c = sqlite3.connect(':memory:'); c.execute(\"attach 'a.db' as a\")",
    "import sqlite3; f = sqlite3.connect; return f('a.db')",
    "open(input.path, 'w').write('x')",
    "open(input.path, 'a')",
    "open(input.path, 'r+')",
    "open(input.path, 'x')",
    "open(input.path, input.mode)",
    "open(*input.args)",
    "open(input.path, **input.options)",
    "f = open; f(input.path, 'w')",
    "list(map(open, [input.path], ['w']))",
    "(lambda f: f(input.path, 'w'))(open)",
    "class Writer:\n    do = open\nWriter.do(input.path, 'w')",
    "import io; io.open(input.path, 'w')",
    "import io; io.FileIO(input.path, 'w')",
    "import io as i; o = i.open; o(input.path, 'w')",
    "import codecs; codecs.open(input.path, 'w', 'utf-8')",
    "import gzip; gzip.open(input.path, 'wb')",
    "import zipfile; zipfile.ZipFile(input.path, 'w')",
    "from pathlib import Path; Path(input.path).open('w')",
    "from pathlib import Path; Path(input.path).open(input.mode)",
    "from pathlib import Path; Path(input.path).write_bytes(b'')",
    "from pathlib import Path; f = Path(input.path).unlink; f()",
    "from pathlib import Path; Path(input.path).rename('b')",
    "from pathlib import Path; getattr(Path(input.path), 'un' + 'link')()",
    "from pathlib import Path; getattr(Path(input.path), input.what)()",
    "import os; os.remove(input.path)",
    "from os import remove as r; r(input.path)",
    "from os import *; remove(input.path)",
    "import os as o; o.unlink(input.path)",
    "import os; getattr(os, 're' + 'move')(input.path)",
    "import os; getattr(os, input.what)(input.path)",
    "import os; m = os; m.remove(input.path)",
    "import os; [os][0].remove(input.path)",
    "import os; os.open(input.path, os.O_CREAT)",
    "import os; os.popen('touch a')",
    "import os; os.system('touch a')",
    "import os; os.__dict__['remove'](input.path)",
    "import os; vars(os)['remove'](input.path)",
    "from os import path; path.os.remove(input.path)",
    "import logging; logging.os.remove(input.path)",
    "import pathlib; pathlib.os.remove(input.path)",
    "import sys; sys.modules['os'].remove(input.path)",
    "globals()['open'](input.path, 'w')",
    "globals()['__builtins__']",
    "__builtins__['open'](input.path, 'w')",
    "__builtins__.open(input.path, 'w')",
    "import builtins; builtins.open(input.path, 'w')",
    "getattr(__builtins__, 'op' + 'en')(input.path, 'w')",
    "vars()['open']",
    "eval(input.text)",
    "e = eval; e(input.text)",
    "exec(input.text)",
    "compile(input.text, 'a', 'exec')",
    "__import__('os').remove(input.path)",
    "import importlib; importlib.import_module('os').remove(input.path)",
    "().__class__.__mro__[1].__subclasses__()",
    "(lambda: 0).__globals__['open'](input.path, 'w')",
    "import operator; operator.methodcaller('unlink')(input.path)",
    "import operator, os; operator.attrgetter('remove')(os)(input.path)",
    "import functools, os; functools.partial(os.remove, input.path)()",
    "import types; types.FunctionType(input.code, {})()",
    "import os\n@os.register_at_fork\ndef f(): ...",
    "import atexit, os; atexit.register(os.remove, input.path)",
    "import subprocess; subprocess.run(['ls'])",
    "import shutil; shutil.copy('a', 'b')",
    "import sqlite3; sqlite3.connect(input.path)",
    "import tempfile; tempfile.mkdtemp()",
    "import pickle; pickle.loads(input.data)",
    "import logging; logging.basicConfig(filename='a.log')",
    "import logging; logging.FileHandler('a.log')",
    "import requests; requests.post(input.url)",
    "import requests; requests.request(input.method, input.url)",
    "import requests; s = requests.Session(); s.delete(input.url)",
    "import requests; p = requests.post; p(input.url)",
    "import urllib.request; urllib.request.urlopen(input.url, data=b'x')",
    "import urllib.request; urllib.request.Request(input.url, method='POST')",
    "import socket; socket.socket().connect(('a', 1))",
    "import numpy; numpy.save('a', [1])",
    "import pandas; pandas.DataFrame().to_csv('a.csv')",
    "import ctypes; ctypes.CDLL(None)",
    "from pydantic import ImportString",
    "breakpoint()",
]


def shown(body: str) -> str:
    lines = body.replace("; ", "\n").splitlines()
    return infer_effects(Code.of(ast.parse("def run(input):\n" + "\n".join(f"    {line}" for line in lines))))


@pytest.mark.parametrize("body", PURE)
def test_what_only_computes_may_be_answered_from_the_record(body: str) -> None:
    assert shown(body) == "pure"


@pytest.mark.parametrize("body", READS)
def test_what_looks_at_the_world_is_no_pure_tool_and_may_run_beside_others(body: str) -> None:
    assert shown(body) == "reads"


@pytest.mark.parametrize("body", WRITES)
def test_what_may_change_the_world_is_never_repeated(body: str) -> None:
    assert shown(body) == "writes"


@given(st.sampled_from(PURE), st.sampled_from(READS), st.sampled_from(WRITES))
def test_nothing_harmless_beside_it_makes_a_writer_look_better(pure: str, reads: str, writes: str) -> None:
    assert shown(f"{pure}\n{reads}") in ("reads", "writes")
    assert shown(f"{writes}\n{pure}\n{reads}") == "writes"


@pytest.mark.parametrize(
    ("declared", "body", "counts"),
    [
        (None, "return 1", "pure"),
        ("writes", "return 1", "writes"),
        ("pure", "open(input.path)", "reads"),
        ("pure", "open(input.path, 'w')", "writes"),
        ("reads", "eval(input.text)", "writes"),
        ("pure", "import random; random.random()", "reads"),
        ("pure", "import time, subprocess", "writes"),
        ("pure", "import requests; requests.post(input.url)", "writes"),
    ],
)
def test_a_declared_effect_counts_when_it_is_stronger(declared: str | None, body: str, counts: str) -> None:
    found = infer_effects(Code.of(ast.parse(body.replace("; ", "\n"))))
    assert stronger(declared or found, found) == counts  # type: ignore[arg-type]


def test_what_describes_a_tool_has_no_effect() -> None:
    source = (
        '"""Uses open(path, \'w\')."""\nfrom pydantic import BaseModel, Field\n'
        "__TOOL_META__ = {'name': 'a', 'description': 'eval', 'examples': [{'arguments': {'x': 1}}]}\n"
        "class InputModel(BaseModel):\n    x: int = Field(description='a number')\n"
        "class OutputModel(BaseModel):\n    y: int\n"
        "def run(input: InputModel) -> OutputModel:\n    return OutputModel(y=input.x)\n"
    )
    assert read_contract(source).effects == "pure"
