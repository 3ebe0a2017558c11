/**
 * `/mcp`: the tools for assistants (Model Context Protocol over Streamable HTTP). It keeps no state between requests,
 * so any instance answers any of them. Every tool call goes through the gateway with the caller's key.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { ApiError, refuse } from '#runtime/errors'
import { jsonHeaders, toErrorAnswer, toResponse } from '#runtime/gateway/answers'
import { parseJson } from '#runtime/gateway/input'
import type { SurfaceParts } from '#runtime/gateway/surface'
import { bodyAtMost, readBytes, utf8Text } from '#runtime/http/body'
import { Caller } from './caller.ts'
import { runTool, tools } from './tools.ts'

const instructions =
  "Runs one online store through its REST API. Find an operation with list_operations, in the merchant's own words; " +
  'read describe_operation before the first call of each; then call_operation. Operations with readOnly false change ' +
  'the store, and some write to customers or cost money: ask the merchant first.'

/** Answers a request to `/mcp`. `ip`: the client address for rate limits. */
export async function answerMcp(parts: SurfaceParts, request: Request, ip: string): Promise<Response> {
  const authorization = request.headers.get('authorization') ?? ''
  const caller = new Caller(parts, authorization, ip)
  const entry = await caller.enter()
  if ('refusal' in entry) {
    const answer = toResponse(entry.refusal)
    if (answer.status === 401) answer.headers.set('www-authenticate', buildChallenge(parts, authorization))
    return answer
  }
  const { origin } = new URL(parts.gateway.services.settings.publicUrl)
  const from = request.headers.get('origin')
  if (from !== null && from !== origin) {
    throw new ApiError('forbidden', 'Pages of other sites may not call this address')
  }
  if (request.method !== 'POST') {
    const refusal = refuse('bad_request', 'This address takes POST alone')
    const headers = { ...jsonHeaders(entry.headers['x-request-id']!), ...entry.headers, allow: 'POST' }
    return toResponse({ ...toErrorAnswer(refusal, headers), status: 405 })
  }
  const length = request.headers.get('content-length') ?? undefined
  const message = parseJson(utf8Text(await readBytes(request, length, bodyAtMost)))
  // Each message of a batch counts as a call.
  for (let i = 1; Array.isArray(message) && i < message.length; i += 1) {
    const more = await caller.enter()
    if ('refusal' in more) return toResponse(more.refusal)
  }

  const parsedBody = message ?? null
  const answer = (await isLegacyRequest(request, parsedBody))
    ? await answerOlder(caller, request, parsedBody)
    : await answerCurrent(caller, request, parsedBody)
  const headers = new Headers(answer.headers)
  for (const [name, value] of Object.entries(entry.headers)) headers.set(name, value)
  return new Response(answer.body, { status: answer.status, headers })
}

/** Handles protocol versions until 2025-11-25, which begin with a handshake. Their sessions are not needed here. */
async function answerOlder(caller: Caller, request: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: bodyAtMost,
  })
  await createServer(caller).connect(transport)
  return transport.handleRequest(request, { parsedBody })
}

/** Handles the protocol since 2026-07-28, which is stateless. No subscriptions, because the tools never change. */
const answerCurrent = (caller: Caller, request: Request, parsedBody: unknown): Promise<Response> =>
  createMcpHandler(() => createServer(caller), { legacy: 'reject', maxSubscriptions: 0 }).fetch(request, {
    parsedBody,
  })

function createServer(caller: Caller): Server {
  const server = new Server(
    { name: 'merchant-api', title: 'Merchant API', version: '1.0.0' },
    { capabilities: { tools: {} }, instructions },
  )
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', ({ params }) => runTool(caller, params.name, params.arguments ?? {}))
  return server
}

/**
 * Builds the `WWW-Authenticate` challenge with the metadata URL (RFC 9728, section 5.1). Names an error only if a key
 * was sent.
 */
function buildChallenge({ gateway }: SurfaceParts, authorization: string): string {
  const { extensions, settings } = gateway.services
  if (extensions.resourceMetadata === null) return 'Bearer'
  const error = authorization === '' ? '' : 'error="invalid_token", '
  return `Bearer ${error}resource_metadata="${settings.publicUrl}${extensions.resourceMetadata.path}"`
}
