"""`habilis view`: what happened, as pages for a browser. It reads only.

One `Site` makes every page, for the server and for `--static` alike. What models and tools wrote is hostile: it reaches
a page through the templates' escaping alone, in bounded pieces.
"""
