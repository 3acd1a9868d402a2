"""Make a throw-away Turkle in the folder $RUNOFF_TURKLE_HOME and serve it; prints the API token, then the address."""

import os
from socketserver import TCPServer, ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

os.environ["DJANGO_SETTINGS_MODULE"] = "turkle_settings"

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.contrib.staticfiles.handlers import StaticFilesHandler  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from rest_framework.authtoken.models import Token  # noqa: E402


class _Quiet(WSGIRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass

    def address_string(self) -> str:
        return str(self.client_address[0])


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True  # a browser keeps connections open that it doesn't use

    def server_bind(self) -> None:
        # The standard one asks the name service for this host, which can take seconds.
        self.server_name, self.server_port = "127.0.0.1", 0
        TCPServer.server_bind(self)
        self.server_port = self.server_address[1]
        self.setup_environ()


call_command("migrate", verbosity=0)
admin = User.objects.create_superuser("admin", "admin@example.com", "adminpw")
application = StaticFilesHandler(get_wsgi_application())
server = make_server("127.0.0.1", 0, application, server_class=_Server, handler_class=_Quiet)
print(Token.objects.create(user=admin).key, flush=True)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
