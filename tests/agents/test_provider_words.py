"""What a plain command ends with: the errors of models' providers, in the words of many libraries, and what only looks so.

Each line is the last that a program prints. The first word of a row says who prints it, the kind what it is.
"""

from itertools import product

import pytest
from support.corpus_score import RECORDINGS, decoded, load

from noface.agents.command import CommandAgent, passed_over
from noface.diagnosis.known_causes import of_its_provider
from noface.model.quoting import speaks

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
