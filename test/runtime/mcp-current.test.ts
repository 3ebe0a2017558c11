/** `/mcp` in the protocol version 2026-07-28, with its own client: no handshake, independent messages. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp({ publicUrl: 'http://localhost' })
const requests: { method: string; name: unknown; version: string | null }[] = []

async function connectAssistant(key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    fetch: (address, init) => {
      const request = new Request(address, init as RequestInit)
      const name = init?.body ? (JSON.parse(String(init.body)) as { method?: string }).method : null
      requests.push({ method: request.method, name, version: request.headers.get('mcp-protocol-version') })
      return Promise.resolve(app.fetch(request, { ip: '1.1.1.1' }))
    },
  })
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types disagree under exactOptionalPropertyTypes
  await client.connect(transport as any)
  return client
}

const use = async (client: Client, name: string, args: Record<string, unknown>) => {
  const { content } = (await client.callTool({ name, arguments: args })) as { content: { text: string }[] }
  return JSON.parse(content[0]!.text)
}

test('finds, describes and runs operations without a handshake', async () => {
  const shop = await store(app)
  const client = await connectAssistant(shop.key)
  expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    'list_operations',
    'describe_operation',
    'read_operation',
    'call_operation',
  ])
  const found = await use(client, 'list_operations', { query: 'create a contact list' })
  expect(found.operations.map((each: { operationId: string }) => each.operationId)).toContain(
    'post_campaigns_lists',
  )
  const described = await use(client, 'describe_operation', { operationId: 'post_campaigns_lists' })
  expect(described.example).toBeDefined()
  const made = await use(client, 'call_operation', {
    operationId: 'post_campaigns_lists',
    body: { name: 'Ours' },
  })
  expect(made).toMatchObject({ status: 201, body: { name: 'Ours' } })
  expect(await use(client, 'call_operation', { operationId: 'get_campaigns_lists' })).toMatchObject({
    status: 200,
    body: { total: 1 },
  })
  expect(requests.map(({ name }) => name)).not.toContain('initialize')
  expect(new Set(requests.map(({ version }) => version))).toEqual(new Set(['2026-07-28']))
  await client.close()
})

/** Sends one request without a client, which would hide fields of the protocol. */
async function send(key: string, method: string, params: object) {
  const answer = await app.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${key}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: {
          ...params,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    }),
    { ip: '1.1.1.1' },
  )
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}

test('subscriptions are refused as an unknown method, since nothing changes that a client could listen to', async () => {
  const shop = await store(app)
  const client = await connectAssistant(shop.key)
  expect(client.getServerCapabilities()).toMatchObject({ tools: {} })
  expect(client.getServerCapabilities()?.tools).not.toHaveProperty('listChanged')
  await client.close()
  const listening = await send(shop.key, 'subscriptions/listen', {
    notifications: { toolsListChanged: true },
  })
  const unknown = await send(shop.key, 'no/such_method', {})
  expect(listening).toEqual(unknown)
  expect(listening).toMatchObject({ status: 404, body: { id: 1, error: { code: -32601 } } })
})

test('the list of tools says how long it may be kept, and that all callers may share it', async () => {
  const shop = await store(app)
  const { body } = await send(shop.key, 'tools/list', {})
  expect(body.result).toMatchObject({ ttlMs: 3_600_000, cacheScope: 'public' })
  const discovered = await send(shop.key, 'server/discover', {})
  expect(discovered.body.result).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
})
