"""What a plain command ends with: the errors of models' providers, in the words of many libraries, and what only looks so.

Each line is the last that a program prints. The first word of a row says who prints it, the kind what it is.
"""

from itertools import product

import pytest
from support.cases import cases
from support.corpus_score import RECORDINGS, decoded, load

from noface.agents.command import CommandAgent, CommandReader, passed_over
from noface.diagnosis.known_causes import of_its_provider
from noface.model.quoting import speaks
from noface.model.taxonomy import FailureKind

POOL = "HTTPSConnectionPool(host='{}', port=443): Max retries exceeded with url: /v1/chat (Caused by {})"
REFUSED = "NewConnectionError('<urllib3.connection.HTTPSConnection object>: Failed to establish a new connection')"
URL = "https://api.openai.com/v1/chat/completions"
MDN = "For more information check: https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/{}"
ERRORS = {
    "RATE_LIMITED": """
anthropic  anthropic.RateLimitError: Error code: 429 - {'type': 'error', 'error': {'type': 'rate_limit_error', 'message': 'x'}}
anthropic-ts  RateLimitError: 429 {"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded"}}
openai  openai.RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o in organization'}}
openai-ts  RateLimitError: 429 Rate limit reached for gpt-4o in organization org-x on tokens per min
litellm  litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached for gpt-4o
litellm-anthropic  litellm.exceptions.RateLimitError: litellm.RateLimitError: AnthropicException - {"type":"error"}
google-genai  google.genai.errors.ClientError: 429 RESOURCE_EXHAUSTED. {'error': {'code': 429, 'message': 'You exceeded your quota'}}
google-api  google.api_core.exceptions.ResourceExhausted: 429 Resource exhausted. Please try again later.
vertex  google.api_core.exceptions.TooManyRequests: 429 POST https://us-central1-aiplatform.googleapis.com/v1
bedrock  botocore.errorfactory.ThrottlingException: An error occurred (ThrottlingException) when calling the Converse operation
bedrock-plain  An error occurred (ThrottlingException) when calling the InvokeModel operation: Too many requests, please wait
azure  openai.RateLimitError: Error code: 429 - {'error': {'code': '429', 'message': 'Requests to the ChatCompletions_Create'}}
claude  API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed"}}
claude-limit  You've hit your session limit · resets 4:28pm (UTC)
gemini  You have exhausted your daily quota on this model.
requests  requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://api.openai.com/v1/chat/completions
groq  groq.RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached for model `llama`'}}
curl  curl: (22) The requested URL returned error: 429
""",
    "OVERLOADED": """
anthropic  anthropic.InternalServerError: Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error'}}
anthropic-old  anthropic._exceptions.OverloadedError: Error code: 529 - {'type': 'error'}
anthropic-ts  InternalServerError: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
openai  openai.InternalServerError: Error code: 503 - {'error': {'message': 'The engine is currently overloaded'}}
openai-time  openai.APITimeoutError: Request timed out.
litellm  litellm.ServiceUnavailableError: ServiceUnavailableError: OpenAIException - overloaded
litellm-500  litellm.InternalServerError: AnthropicException - Overloaded. Handle with `litellm.InternalServerError`.
google-genai  google.genai.errors.ServerError: 503 UNAVAILABLE. {'error': {'code': 503, 'message': 'The model is overloaded.'}}
google-api  google.api_core.exceptions.ServiceUnavailable: 503 The service is currently unavailable.
bedrock  An error occurred (ServiceUnavailableException) when calling the InvokeModel operation: Bedrock is unable to process
bedrock-ready  botocore.errorfactory.ModelNotReadyException: An error occurred: Model is not ready for inference.
azure  openai.InternalServerError: Error code: 500 - {'error': {'code': 'InternalServerError', 'message': 'Backend returned'}}
claude  API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
requests  requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: https://api.openai.com/v1/x
httpx  httpx.HTTPStatusError: Server error '502 Bad Gateway' for url 'https://api.anthropic.com/v1/messages'
ollama  ollama._types.ResponseError: server busy, please try again.  maximum pending requests exceeded (status code: 503)
curl  curl: (22) The requested URL returned error: 503
""",
    "NETWORK": """
anthropic  anthropic.APIConnectionError: Connection error.
openai  openai.APIConnectionError: Connection error.
openai-ts  APIConnectionError: Connection error.
litellm  litellm.APIConnectionError: APIConnectionError: OpenAIException - Connection error.
requests  requests.exceptions.ConnectionError: """
    + POOL.format("api.openai.com", REFUSED)
    + """
requests-ssl  requests.exceptions.SSLError: """
    + POOL.format("api.x.ai", "SSLError(SSLEOFError(8, 'EOF occurred'))")
    + """
httpx  httpx.ConnectError: [Errno -2] Name or service not known
httpx-read  httpx.RemoteProtocolError: peer closed connection without sending complete message body (incomplete chunked read)
google  google.auth.exceptions.TransportError: HTTPSConnectionPool(host='oauth2.googleapis.com', port=443): Max retries exceeded
bedrock  botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL: "https://bedrock-runtime.eu/"
claude  API Error: Unable to connect to API (ECONNREFUSED)
node  TypeError: fetch failed: getaddrinfo ENOTFOUND api.anthropic.com
curl  curl: (6) Could not resolve host: api.openai.com
""",
    "AUTH": """
anthropic  anthropic.AuthenticationError: Error code: 401 - {'type': 'error', 'error': {'message': 'invalid x-api-key'}}
anthropic-ts  AuthenticationError: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}
anthropic-403  anthropic.PermissionDeniedError: Error code: 403 - {'error': {'message': 'Request not allowed'}}
anthropic-none  TypeError: "Could not resolve authentication method. Expected either api_key or auth_token to be set."
openai  openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided: sk-x'}}
openai-none  openai.OpenAIError: The api_key client option must be set either by passing api_key or by OPENAI_API_KEY
openai-quota  openai.RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded your current quota', 'code': 'insufficient_quota'}}
litellm  litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided
litellm-none  litellm.AuthenticationError: Missing Anthropic API Key - A call is being made to anthropic but no key is set
google-genai  google.genai.errors.ClientError: 400 INVALID_ARGUMENT. {'error': {'message': 'API key not valid. Please pass a valid API key.'}}
google-api  google.api_core.exceptions.PermissionDenied: 403 Permission denied on resource project x.
google-adc  google.auth.exceptions.DefaultCredentialsError: Your default credentials were not found.
bedrock  botocore.exceptions.NoCredentialsError: Unable to locate credentials
bedrock-token  An error occurred (UnrecognizedClientException) when calling the Converse operation: The security token included in the request is invalid
azure  openai.AuthenticationError: Error code: 401 - {'error': {'code': '401', 'message': 'Access denied due to invalid subscription key'}}
claude  Invalid API key · Please run /login
claude-credit  Credit balance is too low
""",
    "MISCONFIGURED": """
anthropic  anthropic.NotFoundError: Error code: 404 - {'type': 'error', 'error': {'type': 'not_found_error', 'message': 'model: claude-x'}}
openai  openai.NotFoundError: Error code: 404 - {'error': {'message': 'The model `gpt-x` does not exist', 'code': 'model_not_found'}}
litellm  litellm.NotFoundError: AnthropicException - {"type":"error","error":{"type":"not_found_error","message":"model: x"}}
google-genai  google.genai.errors.ClientError: 404 NOT_FOUND. {'error': {'message': 'models/gemini-x is not found for API version v1beta'}}
azure  openai.NotFoundError: Error code: 404 - {'error': {'code': 'DeploymentNotFound', 'message': 'The API deployment does not exist'}}
ollama  ollama._types.ResponseError: model 'llama9' not found (status code: 404)
""",
}
ROWS = [(kind, *line.split("  ", 1)) for kind, text in ERRORS.items() for line in text.strip().splitlines()]


def verdicts(words):
    """What noface makes of a command whose last line this is: on either stream, with exit code 1, and with 0 by itself."""
    for on_stdout, code in product((False, True), (1, 2)):
        reader = CommandAgent.stream()
        reader.feed(f"I begin.\n{words if on_stdout else 'Bye.'}\n".encode())
        error = of_its_provider(reader.verdict(code, "" if on_stdout else f"Traceback:\n{words}\n").error)
        yield f"{'stdout' if on_stdout else 'stderr'} {code}", error
    yield "stdout 0", passed_over(words)


@pytest.mark.parametrize(("kind", "who", "words"), ROWS, ids=[f"{kind}-{who}" for kind, who, _ in ROWS])
def test_an_error_of_a_provider_is_what_it_is_in_every_librarys_words(kind, who, words):
    read = {how: (error.kind.value, error.charged) if error is not None else None for how, error in verdicts(words)}
    at_zero = read.pop("stdout 0")
    assert set(read.values()) == {(kind, False)}, who
    assert at_zero in (None, (kind, False)), who


OF_THE_WORK = """
FAILED tests/test_retry.py::test_429 - requests.exceptions.HTTPError: 429 Client Error: Too Many Requests
E   requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: http://127.0.0.1:8000/x
requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: http://localhost:8080/items
requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: http://127.0.0.1:5000/health
requests.exceptions.ConnectionError: HTTPConnectionPool(host='localhost', port=8080): Max retries exceeded with url: /
httpx.ConnectError: [Errno 111] Connection refused: http://localhost:9999
httpx.HTTPStatusError: Client error '429 Too Many Requests' for url 'http://testserver/limited'
httpx.HTTPStatusError: Server error '503 Service Unavailable' for url 'http://testserver/down'
httpx.HTTPStatusError: Client error '401 Unauthorized' for url 'http://testserver/me'
aiohttp.client_exceptions.ClientResponseError: 503, message='Service Unavailable', url=URL('http://127.0.0.1:4711/')
AssertionError: expected 200, got status code 429
AssertionError: RateLimitError not raised
AssertionError: assert 'rate limit' in 'too many requests'
AssertionError [ERR_ASSERTION]: 503 == 200
Error: expect(received).toBe(expected) // 429 !== 200
1 failed, 12 passed in 0.31s
FAIL src/client.test.ts > retries on 503
--- FAIL: TestRetryOn429 (0.00s)
test_client.py:33: AssertionError: 529 != 200
error[E0425]: cannot find value `too_many_requests` in this scope
src/http.rs:12: warning: unused variable: `rate_limit`
I added a retry for RateLimitError (429) and overloaded (529) answers.
The client now raises openai.RateLimitError after three tries.
Done: anthropic.RateLimitError is mapped to our own error.
Error: connection refused by localhost:5432
redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.
curl: (7) Failed to connect to localhost port 3000 after 0 ms: Couldn't connect to server
make: *** [Makefile:3: test] Error 1
""".strip().splitlines()


@pytest.mark.parametrize("words", OF_THE_WORK)
def test_what_a_project_about_http_prints_is_its_own(words):
    """What has no place, no test and no module of its own stays a provider's: `RateLimitError: bucket empty`."""
    *failed, (_, at_zero) = verdicts(words)
    assert {error.kind.value for _, error in failed} == {"AGENT_CRASH"}
    assert at_zero is None


def test_of_the_last_lines_of_all_recordings_none_announces_an_error_of_a_provider():
    lines = [
        [each for each in decoded(record["stdout"]).splitlines() if speaks(each)]
        for name in RECORDINGS
        for record in load(name)
    ]
    assert [said[-1] for said in lines if said and passed_over(said[-1].strip())] == []


NODE = """\
file:///x/node_modules/@anthropic-ai/sdk/core/error.mjs:35
            return new RateLimitError(status, error, message, headers);
                   ^

{}
    at APIError.generate (file:///x/node_modules/@anthropic-ai/sdk/core/error.mjs:35:20)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5) {{
  status: 429,
  headers: Headers {{}},
  requestID: 'req_011'
}}

Node.js v22.11.0
"""
FETCH = """\
TypeError: fetch failed
    at async main (file:///x/a.mjs:3:9) {{
  [cause]: Error: connect ECONNREFUSED {0}
      at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1607:16) {{
    errno: -111,
    code: 'ECONNREFUSED',
    address: '{0}'
  }}
}}

Node.js v22.11.0
"""
LIMITED = "anthropic.RateLimitError: Error code: 429 - {'type': 'error'}"
GROUP = """\
  + Exception Group Traceback (most recent call last):
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | anthropic.RateLimitError: Error code: 429 - {'type': 'error'}
    +------------------------------------
"""
CALLED = """\
Traceback (most recent call last):
  File "/x/agent.py", line 12, in <module>
    subprocess.run(["claude", "-p"], check=True)
subprocess.CalledProcessError: Command '['claude', '-p']' returned non-zero exit status 1.
"""
PANIC = """\
thread 'main' panicked at src/main.rs:10:5:
called `Result::unwrap()` on an `Err` value: ApiError { status: 529, message: "Overloaded" }
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
PRETTY = """\
{
  "type": "error",
  "error": {
    "type": "rate_limit_error",
    "message": "Number of requests has exceeded your rate limit"
  }
}
"""
AFTERWARDS = {
    "node": (NODE.format('RateLimitError: 429 {"type":"error"}'), "RATE_LIMITED"),
    "node's own fetch": (FETCH.format("160.79.104.10:443"), "NETWORK"),
    "a service here": (FETCH.format("127.0.0.1:5432"), "AGENT_CRASH"),
    "a bug": (NODE.format("TypeError: agent.go is not a function").replace("429", "1"), "AGENT_CRASH"),
    "java": (
        'Exception in thread "main" com.anthropic.errors.RateLimitException: 429\n\tat Main.main(Main.java:3)',
        "RATE_LIMITED",
    ),
    "ruby": (
        "/x/a.rb:3:in `post': the server responded with status 429 (Faraday)\n\tfrom /x/a.rb:8:in `<main>'",
        "RATE_LIMITED",
    ),
    "rust": (PANIC, "OVERLOADED"),
    "a group of Python's": (GROUP, "RATE_LIMITED"),
    "httpx's advice": (f"httpx.HTTPStatusError: Server error '529 ' for url '{URL}'\n{MDN.format(529)}", "OVERLOADED"),
    "laid out JSON": (PRETTY, "RATE_LIMITED"),
    "make": (f"{LIMITED}\nmake: *** [Makefile:3: agent] Error 1", "RATE_LIMITED"),
    "just": (f"{LIMITED}\nerror: Recipe `agent` failed on line 3 with exit code 1", "RATE_LIMITED"),
    "pnpm": (f"{LIMITED}\n ELIFECYCLE  Command failed with exit code 1.", "RATE_LIMITED"),
    "a wrapper": (f"{LIMITED}\nERROR: claude exited with code 1", "RATE_LIMITED"),
    "Python's subprocess": (f"Invalid API key · Please run /login\n{CALLED}", "AUTH"),
    "a hint": (
        "Ran into this error: Rate limit exceeded.\n\nPlease retry if you think this is transient.",
        "RATE_LIMITED",
    ),
    "red tests": (f"{LIMITED}\n1 failed, 12 passed in 0.31s\nmake: *** [Makefile:3: test] Error 1", "AGENT_CRASH"),
    "a dictionary": ("KeyError: 'rate_limit'", "AGENT_CRASH"),
}


@cases(("printed", "kind"), AFTERWARDS.values(), ids=AFTERWARDS)
def test_what_programs_print_after_an_error_hides_it_not(printed, kind):
    for on_stdout in (False, True):
        reader = CommandAgent.stream()
        reader.feed(f"I begin.\n{printed if on_stdout else 'Bye.'}\n".encode())
        error = of_its_provider(reader.verdict(1, "" if on_stdout else printed).error)
        assert error.kind == kind, (on_stdout, error)


LOGINS = """
Error: No key found - add one using 'llm keys set openai' or set the OPENAI_API_KEY environment variable
Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.
Alternatively, populate the GH_TOKEN environment variable with a GitHub API authentication token.
Error: Missing API key. Please set AMP_API_KEY or run `amp login`.
ERROR: Please run `codex login`.
Please set an Auth method in your /root/.qwen/settings.json or specify one of the following environment variables
Your session has expired. Please log in again.
""".strip().splitlines()


@pytest.mark.parametrize("words", LOGINS)
def test_a_program_that_wants_a_login_is_asked_about_once(words):
    read = {how: error.kind.value for how, error in verdicts(words) if error is not None}
    assert set(read.values()) == {"AUTH"}


def test_a_crash_is_told_by_its_error_and_not_by_what_stands_below_it():
    printed = NODE.format("TypeError: agent.go is not a function").replace("429", "1")
    assert CommandAgent.stream().verdict(1, printed).error.message.endswith("TypeError: agent.go is not a function")


@pytest.mark.parametrize(
    "words",
    [
        "urllib.error.HTTPError: HTTP Error 403: Forbidden",
        "curl: (22) The requested URL returned error: 401",
        "AxiosError: Request failed with status code 401",
        "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.example.com/v1/chat",
    ],
)
def test_who_refuses_a_command_that_changed_nothing_need_not_be_named(words):
    error = CommandReader().verdict(1, f"Traceback:\n{words}\n").error
    assert of_its_provider(error, idle=True).kind is FailureKind.AUTH
    assert of_its_provider(error).kind is FailureKind.AGENT_CRASH
    here = CommandReader().verdict(1, f"Traceback:\n{words} http://localhost:80\n").error
    assert of_its_provider(here, idle=True).kind is FailureKind.AGENT_CRASH
