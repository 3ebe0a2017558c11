import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, test, vi } from 'vitest'
import { Caller } from '#operations/discovery/mcp/caller'
import { listLookFirst } from '#operations/discovery/mcp/consequences'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp({ publicUrl: 'http://localhost' })

/** The official client, over the server's own HTTP. It validates every answer with the tool's output schema. */
async function assistant(key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    fetch: (address, init) =>
      Promise.resolve(app.fetch(new Request(address, init as RequestInit), { ip: '1.1.1.1' })),
  })
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types disagree under exactOptionalPropertyTypes
  await client.connect(transport as any)
  return client
}

interface Outcome {
  isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  value: any
}

async function use(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Outcome> {
  const answer = (await client.callTool({ name, arguments: args })) as {
    isError?: boolean
    content: { text: string }[]
  }
  return { isError: answer.isError ?? false, value: JSON.parse(answer.content[0]!.text) }
}

const raw = (shop: Shop, init: RequestInit & { key?: string | null } = {}) =>
  app.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      ...init,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(init.key === null ? {} : { authorization: `Bearer ${init.key ?? shop.key}` }),
        ...(init.headers as Record<string, string>),
      },
    }),
    { ip: '1.1.1.1' },
  )

describe('the interface', () => {
  test('four tools with schemas, in under 1,800 tokens', async () => {
    const client = await assistant((await store(app)).key)
    const { tools } = await client.listTools()
    expect(tools.map((tool) => tool.name)).toEqual([
      'list_operations',
      'describe_operation',
      'read_operation',
      'call_operation',
    ])
    for (const tool of tools) {
      expect(tool.inputSchema.type).toBe('object')
      expect(tool.outputSchema?.type).toBe('object')
    }
    expect(tools.map((tool) => tool.annotations?.readOnlyHint)).toEqual([true, true, true, false])
    expect(tools[3]!.annotations).toMatchObject({ destructiveHint: true })
    // Tokenizers use at most one token per three characters of JSON.
    expect(JSON.stringify(tools).length / 3).toBeLessThan(1800)
  })

  test('without a key, with a bad one, from another site, with another method: refused', async () => {
    const shop = await store(app)
    expect((await raw(shop)).status).toBe(200)
    const missing = await raw(shop, { key: null })
    expect(missing.status).toBe(401)
    expect(missing.headers.get('www-authenticate')).toMatch(/resource_metadata="http:/)
    expect((await raw(shop, { key: 'mk_test_nonsense' })).status).toBe(401)
    expect((await raw(shop, { headers: { origin: 'https://elsewhere.example' } })).status).toBe(403)
    expect((await raw(shop, { headers: { origin: 'http://localhost' } })).status).toBe(200)
    const got = await raw(shop, { method: 'GET', body: null })
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('list_operations', () => {
  test('lists what the key may run, and nothing else', async () => {
    const shop = await store(app)
    const reader = await assistant(await shop.key_(['platform:read']))
    const { value } = await use(reader, 'list_operations', { limit: 100 })
    const all = await shop.request('GET', '/operations', { key: await shop.key_(['platform:read']) })
    // All but the OpenAPI document, which is of no use to a model.
    expect(value.total).toBe(all.body.data.length - 1)
    expect(value).not.toHaveProperty('sections')
    const nothing = await use(reader, 'list_operations', { query: 'xyzzy plugh' })
    expect(nothing.value).toMatchObject({ operations: [], total: 0 })
    expect(nothing.value.sections).toContainEqual({ section: 'Inbox', description: expect.any(String) })
    const writes = await use(reader, 'list_operations', { readOnly: false, limit: 100 })
    expect(writes.value.operations.every((each: { readOnly: boolean }) => !each.readOnly)).toBe(true)
    const section = await use(reader, 'list_operations', { section: 'inbox', limit: 5 })
    expect(section.value.operations[0].section).toBe('Inbox')
    const unknown = await use(reader, 'list_operations', { section: 'Kitchen' })
    expect(unknown).toMatchObject({ isError: true, value: { error: { code: 'bad_request' } } })
  })

  test('finds by words', async () => {
    const client = await assistant((await store(app)).key)
    const { value } = await use(client, 'list_operations', { query: 'invite my colleague to the team' })
    expect(value.operations[0].operationId).toBe('post_stores_team_invitations')
  })
})

describe('describe_operation', () => {
  test('describes the input, with an example that works unchanged', async () => {
    const shop = await store(app)
    const client = await assistant(shop.key)
    const { value } = await use(client, 'describe_operation', { operationId: 'post_campaigns_opt_outs' })
    expect(value).toMatchObject({
      method: 'POST',
      path: '/campaigns/opt-outs',
      readOnly: false,
      needs: { scopes: ['platform:write'] },
      body: { type: 'object', properties: { phone: expect.anything() } },
      answer: { status: 201, schema: expect.anything() },
    })
    const { isError, value: called } = await use(client, 'call_operation', value.example)
    expect(isError).toBe(false)
    expect(called.status).toBe(201)
  })

  test('an operation that the key may not run has the reason', async () => {
    const shop = await store(app)
    const reader = await assistant(await shop.key_(['platform:read']))
    const refused = await use(reader, 'describe_operation', { operationId: 'post_campaigns_opt_outs' })
    expect(refused).toEqual({
      isError: true,
      value: { error: { code: 'forbidden', message: 'This key lacks the permission platform:write' } },
    })
  })
})

describe('call_operation', () => {
  test('writes and reads under the caller’s key, in its store only', async () => {
    const shop = await store(app)
    const other = await store(app)
    const client = await assistant(shop.key)
    const made = await use(client, 'call_operation', {
      operationId: 'post_campaigns_lists',
      body: { name: 'Made by an assistant' },
    })
    expect(made.value.status).toBe(201)
    const id = made.value.body.id
    const read = { operationId: 'get_campaigns_lists_by_id', path: { id } }
    expect((await use(client, 'call_operation', read)).value.body.name).toBe('Made by an assistant')
    const stranger = await use(await assistant(other.key), 'call_operation', read)
    expect(stranger).toMatchObject({ isError: true, value: { error: { code: 'not_found' } } })
    const paged = await use(client, 'call_operation', {
      operationId: 'get_campaigns_lists',
      query: { limit: 1, page: 1 },
    })
    expect(paged.value.body.data).toHaveLength(1)
    const gone = await use(client, 'call_operation', {
      operationId: 'delete_campaigns_lists_by_id',
      path: { id },
    })
    expect(gone.value).toEqual({ status: 204, body: null, replayed: false })
  })

  test.each([null, ''])('an argument sent as %j counts as absent', async (blank) => {
    const client = await assistant((await store(app)).key)
    const { tools } = await client.listTools()
    const meant: Record<string, Record<string, unknown>> = {
      list_operations: { query: 'create a list' },
      describe_operation: { operationId: 'post_campaigns_lists' },
      read_operation: { operationId: 'get_campaigns_lists', query: { search: 'x' } },
      call_operation: { operationId: 'get_campaigns_lists', query: { search: 'x' } },
    }
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(meant))
    for (const { name, inputSchema } of tools) {
      const blanks = Object.fromEntries(Object.keys(inputSchema.properties!).map((each) => [each, blank]))
      const plain = await use(client, name, meant[name]!)
      expect(plain.isError, name).toBe(false)
      expect(await use(client, name, { ...blanks, ...meant[name] }), name).toEqual(plain)
    }
    const without = await use(client, 'describe_operation', { operationId: blank })
    expect(without.value.error.message).toBe('operationId: is required')
    // Within a body null clears a field, and stays.
    const body = { name: null }
    const refused = await use(client, 'call_operation', { operationId: 'post_campaigns_lists', body })
    expect(refused.value.error.message).toContain('name: must not be null')
  })

  test('a model can correct its errors', async () => {
    const client = await assistant((await store(app)).key)
    const wrong = async (args: Record<string, unknown>) =>
      (await use(client, 'call_operation', args)).value.error
    expect(await wrong({ operationId: 'get_campaign_lists' })).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('get_campaigns_lists'),
    })
    expect(await wrong({ operationId: 'get_campaigns_lists_by_id' })).toEqual({
      code: 'bad_request',
      message: 'path.id: is required',
    })
    expect(await wrong({ operationId: 'get_campaigns_lists', path: { id: '1' } })).toMatchObject({
      code: 'bad_request',
    })
    expect(await wrong({ operationId: 'get_campaigns_lists', query: { limit: 5000 } })).toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('limit'),
    })
    expect(await wrong({ operationId: 'post_campaigns_lists', body: { title: 'x' } })).toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('title'),
    })
    expect(await wrong({ operationId: 5 })).toMatchObject({ code: 'bad_request' })
    await expect(use(client, 'no_such_tool')).rejects.toMatchObject({ code: -32602 })
  })

  test('calls count against the limits of the store', async () => {
    const limited = await testApp({ publicUrl: 'http://localhost', rateLimitStore: 3 })
    const shop = await store(limited)
    const ask = async () => {
      const response = await limited.fetch(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: {
            authorization: `Bearer ${shop.key}`,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name: 'call_operation', arguments: { operationId: 'get_store' } },
          }),
        }),
        { ip: '1.1.1.1' },
      )
      return (await response.json()) as { result: { isError?: boolean; content: { text: string }[] } }
    }
    for (let i = 0; i < 3; i += 1) expect((await ask()).result.isError).toBeUndefined()
    const { result } = await ask()
    expect(result.isError).toBe(true)
    expect(JSON.parse(result.content[0]!.text).error.code).toBe('rate_limited')
  })
})

describe('limits', () => {
  const message = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/list' })

  test('every call counts on its address, each message of a batch, and wrong keys beyond the limit reach no lookup', async () => {
    const limited = await testApp({ publicUrl: 'http://localhost', rateLimitIp: 5 })
    const shop = { ...(await store(limited)), app: limited }
    const call = (body: unknown, key = shop.key) =>
      limited.fetch(
        new Request('http://localhost/mcp', {
          method: 'POST',
          body: JSON.stringify(body),
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            authorization: `Bearer ${key}`,
          },
        }),
        { ip: '2001:db8:0:7::1' },
      )
    const first = await call(message(1))
    expect([first.status, first.headers.get('ratelimit-remaining')]).toEqual([200, '4'])
    expect((await call([message(1), message(2)])).status).toBe(200)
    expect((await call(message(1), `mk_test_${'A'.repeat(43)}`)).status).toBe(401)
    const batch = await call([message(1), message(2), message(3)])
    expect([batch.status, ((await batch.json()) as { error: { code: string } }).error.code]).toEqual([
      429,
      'rate_limited',
    ])
    const asked = vi.spyOn(limited.gateway.keys, 'find')
    expect((await call(message(1), `mk_test_${'B'.repeat(43)}`)).status).toBe(429)
    expect(asked).not.toHaveBeenCalled()
    // The same household, whatever the other half of its address.
    const other = await limited.fetch(new Request('http://localhost/v1/operations'), {
      ip: '2001:db8:0:7:ffff::2',
    })
    expect(other.status).toBe(429)
  })

  test('a call counts once on the address, and once on its store', async () => {
    const limited = await testApp({ publicUrl: 'http://localhost', rateLimitIp: 10, rateLimitStore: 10 })
    const shop = await store(limited)
    const asked = await limited.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
          params: { name: 'call_operation', arguments: { operationId: 'get_operations' } },
        }),
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${shop.key}`,
        },
      }),
      { ip: '3.3.3.3' },
    )
    expect(asked.headers.get('ratelimit-remaining')).toBe('9')
    const next = await shop.request('GET', '/operations')
    expect(next.headers.get('ratelimit-remaining')).toBe('8')
  })
})

describe('an idempotency key', () => {
  test('gives a repeated call one effect and one answer, and marks the second', async () => {
    const client = await assistant((await store(app)).key)
    const body = { phone: '+5511977776666' }
    const call = { operationId: 'post_campaigns_opt_outs', body, idempotencyKey: 'once-1' }
    const first = await use(client, 'call_operation', call)
    expect(first.value).toMatchObject({ status: 201, replayed: false })
    const second = await use(client, 'call_operation', call)
    expect(second.value).toEqual({ ...first.value, replayed: true })
    const other = await use(client, 'call_operation', { ...call, body: { phone: '+5511977776667' } })
    expect(other).toMatchObject({ isError: true, value: { error: { code: 'conflict' } } })
    const odd = await use(client, 'call_operation', { ...call, idempotencyKey: 'two words' })
    expect(odd).toMatchObject({ isError: true, value: { error: { code: 'bad_request' } } })
  })
})

describe('writes with consequences', () => {
  test('name what cannot be undone, and the previews to read first', async () => {
    const client = await assistant((await store(app)).key)
    const described = (operationId: string) => use(client, 'describe_operation', { operationId })
    expect((await described('post_campaigns_by_id_send')).value).toMatchObject({
      consequences: ['messages'],
      lookFirst: ['get_campaigns_by_id', 'get_campaigns_by_id_preview', 'get_subscription_usage'],
    })
    expect((await described('post_subscription_update_plan')).value).toMatchObject({
      consequences: ['money'],
    })
    expect((await described('delete_automations_by_id')).value.consequences).toEqual(['messages', 'deletion'])
    expect((await described('get_campaigns')).value).toMatchObject({ consequences: [], lookFirst: [] })
    const { value } = await use(client, 'list_operations', { query: 'send the campaign now' })
    expect(value.operations[0]).toMatchObject({
      operationId: 'post_campaigns_by_id_send',
      consequences: ['messages'],
    })
  })

  test('every preview is a read of the store, with parameters that the write has', () => {
    const { operations, byId } = app.registry
    const looking = operations.filter(({ spec }) => spec.lookFirst)
    expect(looking.length).toBeGreaterThan(8)
    for (const operation of looking) {
      for (const id of listLookFirst(operation.spec)) {
        const read = byId(id)
        expect([operation.id, id, read?.spec.readOnly]).toEqual([operation.id, id, true])
        expect([...operation.parameters]).toEqual(expect.arrayContaining([...read!.parameters]))
      }
    }
  })
})

test('an unexpected failure is reported to the assistant without its cause', async () => {
  const shop = await store(app)
  await assistant(shop.key)
  const access = vi
    .spyOn(Caller.prototype, 'access')
    .mockRejectedValue(new Error('connect ECONNREFUSED 10.1.2.3:5432'))
  try {
    const answer = await raw(shop, {
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_operations', arguments: {} },
      }),
    })
    const text = await answer.text()
    expect(text).not.toContain('10.1.2.3')
    expect(JSON.parse(text)).toMatchObject({ result: { isError: true } })
    expect(text).toContain('try again later')
  } finally {
    access.mockRestore()
  }
})
