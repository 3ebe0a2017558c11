/** An assistant and its merchant: each step as a program or a browser makes it. */
import { createHash, randomBytes } from 'node:crypto'
import { createServer, get } from 'node:http'
import type https from 'node:https'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, onTestFinished } from 'vitest'
import { createKey } from '#scripts/admin/keys'
import { someIp } from '#test/operations/exchanges/shopper'
import { freshDatabase, type TestApp, testApp } from '#test/support/app'
import type { Shop } from '#test/support/store'

export const origin = 'http://localhost'
export const redirectUri = 'https://assistant.example/callback'

export interface Assistant {
  clientId: string
  verifier: string
  /** The query of the authorize page. */
  query: Record<string, string>
}

export type Changes = Record<string, string | null>

/** `query` without null values. */
export const given = (query: Record<string, string>, changes: Changes = {}): URLSearchParams =>
  new URLSearchParams(
    Object.entries({ ...query, ...changes }).flatMap(([name, value]): [string, string][] =>
      value === null ? [] : [[name, value]],
    ),
  )

export function hand(app: TestApp) {
  /** `ip`: unique per call, unless the test is about limits. */
  const send = (path: string, init: RequestInit = {}, ip = someIp()): Promise<Response> =>
    Promise.resolve(app.fetch(new Request(`${origin}${path}`, init), { ip }))

  const form = (path: string, fields: URLSearchParams, headers: Record<string, string> = {}, ip?: string) =>
    send(path, { method: 'POST', body: fields, headers }, ip)

  /** Submits a form like our own page. */
  const ownForm = (path: string, fields: Record<string, string>, ip?: string) =>
    form(path, new URLSearchParams(fields), { origin, 'sec-fetch-site': 'same-origin' }, ip)

  const register = async (body: Record<string, unknown> = {}): Promise<Response> =>
    send('/oauth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Helper', redirect_uris: [redirectUri], ...body }),
    })

  const assistant = async (): Promise<Assistant> => {
    const { client_id: clientId } = (await (await register()).json()) as { client_id: string }
    const verifier = randomBytes(32).toString('base64url')
    const query = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      state: 'st&te=1',
      scope: 'platform:read platform:write',
      resource: `${origin}/mcp`,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }
    return { clientId, verifier, query }
  }

  const authorize = (query: URLSearchParams, ip?: string) => send(`/oauth/authorize?${query}`, {}, ip)

  /** The sealed form of the first page. */
  const asked = async ({ query }: Assistant, changes: Changes = {}): Promise<string> =>
    hidden(await (await authorize(given(query, changes))).text(), 'request')

  /** The sealed form of the second page. */
  const shown = async (who: Assistant, key: string, changes: Changes = {}): Promise<string> =>
    hidden(
      await (await ownForm('/oauth/authorize', { request: await asked(who, changes), key })).text(),
      'consent',
    )

  /** The redirect after the merchant's consent. */
  const consent = async (
    who: Assistant,
    key: string,
    fields: Record<string, string> = { 'platform:read': 'on' },
    changes: Changes = {},
  ): Promise<URLSearchParams> => {
    const answer = await ownForm('/oauth/consent', {
      consent: await shown(who, key, changes),
      decision: 'yes',
      days: '30',
      ...fields,
    })
    return queryOf(answer)
  }

  /** Acts as the merchant whom a program leads to an address. Returns the address to which they are led back. */
  const approve = async (
    { pathname, search }: URL,
    key: string,
    fields: Record<string, string> = { 'platform:read': 'on' },
  ): Promise<URL> => {
    const request = hidden(await (await send(`${pathname}${search}`)).text(), 'request')
    const choice = await (await ownForm('/oauth/authorize', { request, key })).text()
    const answer = await ownForm('/oauth/consent', {
      consent: hidden(choice, 'consent'),
      decision: 'yes',
      days: '30',
      ...fields,
    })
    return new URL(answer.headers.get('location')!)
  }

  const exchange = ({ clientId, verifier }: Assistant, code: string, changes: Changes = {}) =>
    form(
      '/oauth/token',
      given(
        {
          grant_type: 'authorization_code',
          client_id: clientId,
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
          resource: `${origin}/mcp`,
        },
        changes,
      ),
    )

  const refresh = ({ clientId }: Assistant, token: string, changes: Changes = {}) =>
    form(
      '/oauth/token',
      given({ grant_type: 'refresh_token', client_id: clientId, refresh_token: token }, changes),
    )

  const revoke = ({ clientId }: Assistant, token: string) =>
    form('/oauth/revoke', given({ token, client_id: clientId }))

  /** Runs the whole flow; answers the tokens. */
  const connect = async (key: string, fields?: Record<string, string>) => {
    const who = await assistant()
    const code = (await consent(who, key, fields)).get('code')!
    const answer = await exchange(who, code)
    return { who, code, tokens: (await answer.json()) as Tokens }
  }

  /** The status of `tools/list`. */
  const use = async (token: string | null): Promise<number> => (await mcp(token)).status
  const mcp = (token: string | null) =>
    send('/mcp', {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
    })

  return {
    send,
    form,
    ownForm,
    register,
    assistant,
    authorize,
    asked,
    shown,
    consent,
    approve,
    exchange,
    refresh,
    revoke,
    connect,
    use,
    mcp,
  }
}

export interface Tokens {
  access_token: string
  refresh_token: string
  expires_in: number
  scope: string
  token_type: string
}

export function hidden(html: string, name: string): string {
  const value = new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1]
  if (!value) throw new Error(`The page has no ${name}: ${html.slice(-900)}`)
  return value
}

export function queryOf(answer: Response): URLSearchParams {
  const location = answer.headers.get('location')
  if (!location) throw new Error(`It leads nowhere: ${answer.status}`)
  return new URL(location).searchParams
}

/** Two gateways on one database, each with its own key cache; `logged` holds the log of both. */
export async function twoGateways(level: 'trace' | 'warn' = 'trace') {
  const { database } = await freshDatabase()
  const logged: string[] = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk))
      done()
    },
  })
  const shared = { database, shared: true, log: pino({ level }, sink) }
  const app = await testApp({ publicUrl: origin }, shared)
  const other = hand(await testApp({ publicUrl: origin }, { ...shared, clock: app.clock }))
  // Before the first of the two closes the database.
  afterAll(() => app.gateway.keys.flushUses())
  const it = hand(app)
  return {
    database,
    app,
    it,
    other,
    logged,
    /** Creates a key by the command line, usable for grants. */
    shownKey: (shop: Shop, more: { expiresAt?: Date } = {}) =>
      createKey(database, app.clock.now(), {
        storeId: shop.id,
        member: shop.email,
        scopes: ['platform:read', 'platform:write'],
        ...more,
      }),
    /** The status of a token on both gateways. */
    uses: async (token: string) => [await it.use(token), await other.use(token)],
  }
}

export const errorOf = async (answer: Response): Promise<[number, string]> => [
  answer.status,
  ((await answer.json()) as { error: string }).error,
]

/** A document of a client, as its server answers it. */
type Document = [status: number, type: string, body: string | object]

/**
 * Serves metadata documents of clients by path until the test ends; other paths redirect. Returns a `get` that reaches
 * this server instead of the internet.
 */
export async function serveDocuments(documents: Record<string, Document>): Promise<typeof https.get> {
  const server = createServer((request, response) => {
    const [status, type, body] = documents[request.url!] ?? [302, 'text/plain', '']
    const location = status === 302 ? { location: 'https://client.example/good.json' } : {}
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'content-type': type, ...location }).end(text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return ((url: URL, options: object, answer: never) =>
    get(`http://127.0.0.1:${port}${url.pathname}`, options, answer)) as unknown as typeof https.get
}
