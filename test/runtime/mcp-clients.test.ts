/** Habits and needs of assistants' clients: JSON as text, reads apart from writes, questions, scopes, limits, links. */
import { describe, expect, test } from 'vitest'
import { limitBody } from '#operations/discovery/mcp/limit-body'
import { listFiles, toFollow } from '#operations/discovery/mcp/links'
import { fillMonitor } from '#runtime/registry/monitor'
import type { z } from '#runtime/schema'
import { hand } from '#test/operations/oauth/assistant'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp({ publicUrl: 'http://localhost' })
const { connect } = hand(app)

const envelope = (capabilities: object) => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  },
})

interface Sent {
  host?: string
  more?: object
  capabilities?: object
}

/** Sends one tool call in the current protocol version. */
const call = (
  key: string,
  name: string,
  args: object,
  { host = 'localhost', more = {}, capabilities }: Sent = {},
) =>
  app.fetch(
    new Request(`http://${host}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${key}`,
        origin: `http://${host}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args, ...more, ...envelope(capabilities ?? {}) },
      }),
    }),
    { ip: '1.1.1.1' },
  )

// biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
const resultOf = async (answer: Response): Promise<any> => {
  const body = (await answer.json()) as { result?: unknown }
  expect(body, JSON.stringify(body)).toHaveProperty('result')
  return body.result
}
// biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
const use = async (...args: Parameters<typeof call>): Promise<any> => {
  const { content, isError } = await resultOf(await call(...args))
  return { isError: isError ?? false, value: JSON.parse(content[0].text) }
}
const makeList = (shop: Shop, name: string) => shop.request('POST', '/campaigns/lists', { body: { name } })

describe('arguments', () => {
  test('are parsed where a client sends JSON as text', async () => {
    const shop = await store(app)
    const made = await use(shop.key, 'call_operation', {
      operationId: 'post_campaigns_lists',
      body: '{"name":"Sent as text"}',
    })
    expect(made).toMatchObject({ isError: false, value: { status: 201, body: { name: 'Sent as text' } } })
    const { value } = await use(shop.key, 'list_operations', { limit: '3', readOnly: 'true' })
    expect(value.operations).toHaveLength(3)
  })

  test('that are no JSON at all get a parse error, and an unknown tool invalid parameters', async () => {
    const shop = await store(app)
    const broken = await app.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${shop.key}` },
        body: '{"jsonrpc":',
      }),
      { ip: '1.1.1.1' },
    )
    expect([broken.status, await broken.json()]).toMatchObject([400, { id: null, error: { code: -32700 } }])
    const unknown = await call(shop.key, 'no_such_tool', {})
    expect(await unknown.json()).toMatchObject({ error: { code: -32602 } })
  })
})

describe('read_operation', () => {
  test('runs reads and refuses writes', async () => {
    const shop = await store(app)
    await makeList(shop, 'Ours')
    const read = await use(shop.key, 'read_operation', { operationId: 'get_campaigns_lists' })
    expect(read.value).toMatchObject({ status: 200, body: { total: 1 } })
    const write = await use(shop.key, 'read_operation', { operationId: 'post_campaigns_lists' })
    expect(write).toMatchObject({ isError: true, value: { error: { code: 'bad_request' } } })
    expect(write.value.error.message).toContain('call_operation')
  })

  test('ends a long list after an item, and says how to get the rest', () => {
    const data = Array.from({ length: 100 }, (_, id) => ({ id, text: 'x'.repeat(2000) }))
    const { body, truncated } = limitBody(JSON.stringify({ data, page: 1, total: 100 })) as {
      body: { data: unknown[]; total: number }
      truncated: string
    }
    expect(JSON.stringify(body).length).toBeLessThanOrEqual(75_000)
    expect([body.data.length, body.data[0], body.total]).toEqual([37, data[0], 100])
    expect(truncated).toContain('limit 37')
    expect(limitBody(JSON.stringify({ text: 'x'.repeat(80_000) }))).toMatchObject({ body: null })
    expect(limitBody('{"data":[]}')).toEqual({ body: { data: [] } })
  })
})

describe('the OpenAPI document', () => {
  test('is offered by no tool, since it is of no use to a model', async () => {
    const shop = await store(app)
    const offered: string[] = []
    for (let offset = 0; ; offset += 100) {
      const { value } = await use(shop.key, 'list_operations', { limit: 100, offset })
      offered.push(...value.operations.map(({ operationId }: { operationId: string }) => operationId))
      if (value.operations.length === 0) break
    }
    const isPublic = (id: string) => app.registry.byId(id)!.spec.public !== undefined
    expect(app.registry.operations.filter(({ id }) => isPublic(id)).map(({ id }) => id)).toEqual([
      'get_openapi_json',
    ])
    expect(offered.length).toBe(app.registry.operations.length - 1)
    expect(offered).not.toContain('get_openapi_json')
    for (const tool of ['describe_operation', 'read_operation', 'call_operation']) {
      const { value } = await use(shop.key, tool, { operationId: 'get_openapi_json' })
      expect(value.error.code, tool).toBe('not_found')
    }
  })
})

describe('work in the background', () => {
  const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057'
  const accepted = app.registry.operations.filter(({ spec }) => spec.answer.status === 202)

  test('every 202 names a read that takes what the answer says', async () => {
    const shop = await store(app)
    expect(accepted.length).toBeGreaterThan(25)
    for (const operation of accepted) {
      const names = [
        ...operation.parameters,
        ...Object.keys((operation.spec.answer.body as z.AnyZodObject).shape),
      ]
      const values = Object.fromEntries(names.map((name) => [name, unknownId]))
      const location = `/v1${fillMonitor(operation.spec.monitor!, {}, JSON.stringify(values))}`
      const follow = toFollow(app.registry, operation, location)!
      const read = app.registry.byId(follow.operationId)!
      expect([operation.id, Object.keys(follow.path)]).toEqual([operation.id, [...read.parameters]])
      const overHttp = await shop.request('GET', location.replace('/v1', ''))
      expect([200, 404], `${operation.id}: ${JSON.stringify(overHttp.body)}`).toContain(overHttp.status)
      const byTool = await use(shop.key, 'read_operation', follow)
      expect([operation.id, byTool.value.status ?? byTool.value.error.code]).toEqual([
        operation.id,
        overHttp.status === 200 ? 200 : 'not_found',
      ])
    }
  })

  test('is followed by the arguments of its answer', async () => {
    const shop = await store(app)
    const started = await use(shop.key, 'call_operation', {
      operationId: 'post_campaigns_lists_import_csv',
      body: { name: 'Imported', columns: ['WhatsApp'], rows: [['(11) 98888-7777']] },
    })
    const { listId, jobId } = started.value.body
    expect(started.value.follow).toEqual({
      operationId: 'get_campaigns_lists_by_id',
      path: { id: listId },
      query: {},
    })
    const queued = await use(shop.key, 'read_operation', started.value.follow)
    expect(queued.value.body.import).toMatchObject({ jobId, status: 'queued' })
    await app.drainJobs()
    const ended = await use(shop.key, 'read_operation', started.value.follow)
    expect(ended.value.body.import).toMatchObject({ jobId, status: 'completed', added: 1 })
  })

  test('is followed by the Location of its answer over HTTP, also when the answer is repeated', async () => {
    const shop = await store(app)
    const start = () =>
      shop.request('POST', '/campaigns/lists/import/csv', {
        body: { name: 'Imported', columns: ['WhatsApp'], rows: [['(11) 98888-7777']] },
        headers: { 'idempotency-key': 'import-1' },
      })
    const first = await start()
    const location = first.headers.get('location')!
    expect([first.status, location]).toEqual([202, `/v1/campaigns/lists/${first.body.listId}`])
    const second = await start()
    expect([second.headers.get('idempotency-replayed'), second.headers.get('location')]).toEqual([
      'true',
      location,
    ])
    expect((await shop.request('GET', location.replace('/v1', ''))).body.name).toBe('Imported')
    expect((await shop.request('GET', '/campaigns/lists')).headers.get('location')).toBeNull()
  })

  test('an export ends with a link to its file', async () => {
    const shop = await store(app)
    await shop.request('POST', '/campaigns/opt-outs', { body: { phone: '+5511988887777' } })
    const { value } = await use(shop.key, 'call_operation', { operationId: 'get_campaigns_opt_outs_export' })
    expect(value.follow).toMatchObject({
      operationId: 'get_notifications',
      query: { type: 'export-ready,export-failed' },
    })
    await app.drainJobs()
    const { content } = await resultOf(await call(shop.key, 'read_operation', value.follow))
    const [text, ...links] = content
    expect(JSON.parse(text.text).body.data[0].data.jobId).toBe(value.body.jobId)
    expect(links).toEqual([
      {
        type: 'resource_link',
        uri: expect.stringMatching(/^http/),
        name: `opt-outs-export-${value.body.jobId}.csv`,
        mimeType: 'text/csv; charset=utf-8',
        size: expect.any(Number),
      },
    ])
    const older = await app.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${shop.key}`,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'read_operation', arguments: value.follow },
        }),
      }),
      { ip: '1.1.1.1' },
    )
    // Clients of versions before 2025-06-18, which send no version, do not know this type of content.
    expect((await resultOf(older)).content).toHaveLength(1)
    const file = await app.fetch(new Request(links[0].uri), { ip: '1.1.1.1' })
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const csv = await file.text()
    expect(csv).toContain('5511988887777')
    expect(Buffer.byteLength(csv) + 3).toBe(links[0].size)
  })

  test('files are linked wherever they are in an answer, at most 20', () => {
    const file = (n: number) => ({ url: `https://files.example/${n}.csv`, contentType: 'text/csv' })
    expect(
      listFiles({ a: [{ media: { ...file(1), fileName: 'One.csv', size: 7 } }], b: null, c: 'x' }),
    ).toEqual([{ type: 'resource_link', uri: file(1).url, name: 'One.csv', mimeType: 'text/csv', size: 7 }])
    expect(listFiles(file(2))).toMatchObject([{ name: '2.csv' }])
    expect(listFiles({ url: null, contentType: 'text/csv' })).toEqual([])
    expect(listFiles({ url: '/path', contentType: 'text/csv' })).toEqual([])
    expect(listFiles(Array.from({ length: 30 }, (_, n) => file(n)))).toHaveLength(20)
  })
})

describe('an irreversible write', () => {
  const capabilities = { elicitation: {} }
  const removal = (id: string) => ({ operationId: 'delete_campaigns_lists_by_id', path: { id } })
  const answered = (action: string, confirm?: boolean) => ({
    more: {
      inputResponses: { confirm: { action, ...(confirm === undefined ? {} : { content: { confirm } }) } },
    },
    capabilities,
  })

  test('asks the merchant first if the client can, and happens only after their consent', async () => {
    const shop = await store(app)
    const { id } = (await makeList(shop, 'To be deleted')).body
    const question = await resultOf(await call(shop.key, 'call_operation', removal(id), { capabilities }))
    expect(question.inputRequests.confirm).toMatchObject({
      method: 'elicitation/create',
      params: { message: expect.stringContaining('It deletes data.') },
    })
    for (const refusal of [answered('decline'), answered('accept', false)]) {
      const declined = await use(shop.key, 'call_operation', removal(id), refusal)
      expect(declined).toMatchObject({ isError: true, value: { error: { code: 'forbidden' } } })
    }
    expect((await shop.request('GET', `/campaigns/lists/${id}`)).status).toBe(200)
    const agreed = await use(shop.key, 'call_operation', removal(id), answered('accept', true))
    expect(agreed.value.status).toBe(204)
  })

  test('is run at once if the client cannot ask', async () => {
    const shop = await store(app)
    const { id } = (await makeList(shop, 'To be deleted')).body
    expect((await use(shop.key, 'call_operation', removal(id))).value.status).toBe(204)
  })
})

describe('an assistant without a scope', () => {
  test('is told by a 403 which scopes to ask the merchant for', async () => {
    const shop = await store(app)
    const { tokens } = await connect(shop.key)
    const refused = await call(tokens.access_token, 'call_operation', {
      operationId: 'post_campaigns_lists',
      body: { name: 'Not granted' },
    })
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: 'insufficient_scope' }])
    expect(refused.headers.get('www-authenticate')).toMatch(
      /^Bearer error="insufficient_scope", scope="platform:read platform:write", resource_metadata="http:/,
    )
  })

  test('gets a tool error with a pasted key, which has no more scopes to give', async () => {
    const shop = await store(app)
    const key = await shop.key_(['platform:read'])
    const refused = await use(key, 'call_operation', {
      operationId: 'post_campaigns_lists',
      body: { name: 'x' },
    })
    expect(refused).toMatchObject({ isError: true, value: { error: { code: 'forbidden' } } })
  })
})

test('localhost and 127.0.0.1 are one server: metadata, challenge and origin name what the client called', async () => {
  const shop = await store(app)
  const metadata = await app.fetch(
    new Request('http://127.0.0.1/.well-known/oauth-protected-resource/mcp', {
      headers: { origin: 'https://client.example' },
    }),
    { ip: '1.1.1.1' },
  )
  expect(metadata.headers.get('access-control-allow-origin')).toBe('*')
  expect(await metadata.json()).toMatchObject({
    resource: 'http://127.0.0.1/mcp',
    authorization_servers: ['http://127.0.0.1'],
  })
  const challenged = await call('mk_live_nonsense', 'list_operations', {}, { host: '127.0.0.1' })
  expect(challenged.headers.get('www-authenticate')).toContain('resource_metadata="http://127.0.0.1/')
  expect((await use(shop.key, 'list_operations', {}, { host: '127.0.0.1' })).isError).toBe(false)
})
