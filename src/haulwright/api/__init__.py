"""The door for programs: HTTP with JSON, on `operations` alone.

A route is a few lines: it reads what was asked, calls one operation of the principal that the request proved to be, and
gives the view of the answer. Tenant and role come from a verified token and from nowhere else.
"""
