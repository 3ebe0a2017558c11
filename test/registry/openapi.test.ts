import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApiDocument, openApiText, prepareOpenApi } from '#runtime/documents/openapi'
import { refusalName } from '#runtime/documents/openapi-parts'
import type { JsonSchema } from '#runtime/documents/publish'
import { errorCodes, statusOf } from '#runtime/errors'
import { operation } from '#runtime/operation'
import type { Registry } from '#runtime/registry/loaded'
import { loadedOperation, loadRegistry } from '#runtime/registry/registry'
import { count, named, object, z } from '#runtime/schema'
import { isFullSuite } from '#test/support/suite'
import { madeUpOperations, withMadeUp } from './made-up.ts'

interface Operation {
  operationId: string
  tags: string[]
  summary: string
  parameters?: JsonSchema[]
  requestBody?: { required: boolean; content: { 'application/json': Media } }
  responses: Record<string, Response & { $ref?: string }>
  [key: string]: unknown
}
interface Response {
  description?: string
  headers?: Record<string, unknown>
  content?: { 'application/json': Media }
}
interface Media {
  schema: JsonSchema
  example?: unknown
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, JsonSchema>>
  [key: string]: unknown
}

const root = join(import.meta.dirname, '..', '..')
let registry: Registry
let document: Document
let folder: string

beforeAll(async () => {
  registry = withMadeUp(await loadRegistry())
  document = openApiDocument(registry) as unknown as Document
  folder = await mkdtemp(join(tmpdir(), 'merchant-openapi-'))
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const inDocument = (id: string): Operation => {
  const found = registry.byId(id) ?? madeUpOperations.find((each) => each.id === id)
  const path = found!.spec.path.replace(/:(\w+)/g, '{$1}')
  return document.paths[path]![found!.spec.method.toLowerCase()]!
}
/** What a reference leads to; another description beside it holds. */
function resolved<T>(value: T): T {
  const { $ref, ...beside } = value as T & { $ref?: string }
  if (!$ref) return value
  const [, , kind, name] = $ref.split('/')
  return { ...document.components[kind!]![name!], ...beside } as T
}
const everyOperation = (): Operation[] => Object.values(document.paths).flatMap((item) => Object.values(item))
const runNode = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    execFile(process.execPath, args, { env, maxBuffer: 1e8 }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })

/** Loaded before a program: it can reach no other machine, and says so when it tries. */
const noNetwork = `--import=data:text/javascript,${encodeURIComponent(`
  import net from 'node:net'
  net.Socket.prototype.connect = () => { console.error('NETWORK CALL'); process.exit(99) }
`)}`

describe('the document', () => {
  test.runIf(isFullSuite)(
    'is OpenAPI 3.1 without an error or a warning, by a linter that calls nobody',
    async () => {
      const config = join(folder, 'redocly.yaml')
      await writeFile(config, 'extends: [recommended]\n')
      const cli = join(root, 'node_modules/@redocly/cli/bin/cli.js')
      const file = join(folder, 'openapi.json')
      const lint = await runNode(noNetwork, cli, 'lint', file, '--config', config, '--format', 'json')
      expect(lint.err).not.toContain('NETWORK CALL')
      const { problems } = JSON.parse(lint.out) as { problems: { ruleId: string; message: string }[] }
      // The mission's own paths cross (`/campaigns/lists/{id}`, `/campaigns/{id}/send`): the static one is found first.
      const ours = problems.filter(
        ({ ruleId, message }) => ruleId !== 'no-ambiguous-paths' || !message.includes('`/campaigns/'),
      )
      expect(ours).toEqual([])
      expect(lint.code).toBe(0)
    },
  )

  test.runIf(isFullSuite)('the linter and its lack of a network would notice', async () => {
    const call = await runNode(noNetwork, '--eval', `fetch('http://127.0.0.1:8080')`)
    expect(call).toMatchObject({ code: 99, err: expect.stringContaining('NETWORK CALL') })
    const file = join(folder, 'wrong.json')
    await writeFile(file, JSON.stringify({ ...document, components: {} }))
    const cli = join(root, 'node_modules/@redocly/cli/bin/cli.js')
    expect((await runNode(noNetwork, cli, 'lint', file, '--extends', 'recommended')).code).toBe(1)
  })

  test('says what it is', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: '/v1' }],
      components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    })
    expect(document.tags).toEqual(
      registry.sections.map(({ title, description }) => ({ name: title, description })),
    )
  })

  test('has every operation once, in the order of the registry', () => {
    expect(
      everyOperation()
        .map((each) => each.operationId)
        .sort(),
    ).toEqual(registry.operations.map((each) => each.id).sort())
    expect(Object.keys(document.paths)).toEqual([
      ...new Set(registry.operations.map((each) => each.spec.path.replace(/:(\w+)/g, '{$1}'))),
    ])
    for (const { id, section, spec, minimumRole } of registry.operations) {
      const found = inDocument(id)
      expect(found).toMatchObject({
        operationId: id,
        tags: [section.title],
        'x-scopes': spec.scopes,
        'x-read-only': spec.readOnly,
        'x-feature': spec.feature ?? null,
        'x-minimum-role': minimumRole,
        security: spec.public ? [{ apiKey: [] }, {}] : [{ apiKey: spec.scopes }],
      })
      expect(found.summary.length).toBeLessThanOrEqual(80)
    }
  })

  test('declares one success and all eight error statuses on every operation, with the headers of all', () => {
    const common = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'X-Request-Id']
    const eight = ['400', '401', '403', '404', '409', '413', '429', '503']
    expect(errorCodes.map((code) => `${statusOf(code)}`).toSorted()).toEqual(eight)
    for (const { id } of registry.operations) {
      const { responses } = inDocument(id)
      const codes = Object.keys(responses)
      expect(
        codes.filter((code) => code.startsWith('2')),
        id,
      ).toHaveLength(1)
      expect(codes.filter((code) => /^[45]/.test(code)).toSorted(), id).toEqual(eight)
      for (const code of errorCodes) {
        expect(responses[statusOf(code)]!.$ref).toBe(`#/components/responses/${refusalName(code)}`)
      }
      for (const response of Object.values(responses)) {
        expect(Object.keys(resolved(response).headers!)).toEqual(expect.arrayContaining(common))
      }
    }
    for (const code of errorCodes) {
      const response = document.components.responses![refusalName(code)] as Response
      const waits = code === 'rate_limited' || code === 'unavailable' ? ['Retry-After'] : []
      expect(Object.keys(response.headers!)).toEqual([...common, ...waits])
      expect(response.content!['application/json'].schema).toMatchObject({
        properties: { error: { properties: { code: { const: code } }, required: ['code', 'message'] } },
      })
    }
  })

  test('holds no reference that leads nowhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)]
    expect(references.length).toBeGreaterThan(0)
    for (const [, kind, name] of references) expect(document.components[kind!]).toHaveProperty([name!])
  })

  test('says what operations say alike once, and stays below 950 KB', async () => {
    expect(openApiText(await loadRegistry()).length).toBeLessThan(950_000)
    const { parameters, responses } = document.components
    expect(parameters).toMatchObject({ page: { in: 'query' }, 'campaigns.id': { name: 'id', in: 'path' } })
    expect(responses).toMatchObject({ Nothing: {}, NotModified: {}, CampaignChanged: {} })
    expect(inDocument('delete_gadgets_by_id').responses[204]).toEqual({
      $ref: '#/components/responses/Nothing',
    })
    expect(inDocument('get_campaigns').parameters![0]).toEqual({ $ref: '#/components/parameters/page' })
  })

  test('leaves open what is only answered, and closes what is sent', () => {
    const { Gadget, GadgetInput } = document.components.schemas as Record<string, JsonSchema>
    expect(Gadget).not.toHaveProperty('additionalProperties')
    expect(GadgetInput).toMatchObject({ additionalProperties: false })
  })

  test('says of no answer that a field has a default: what is filled in is always there', () => {
    const sent = new Set<string>()
    const reach = (value: unknown): void => {
      for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
        if (!sent.has(name!) && sent.add(name!)) reach(document.components.schemas![name!])
      }
    }
    for (const { requestBody } of everyOperation()) if (requestBody) reach(requestBody)
    const told: string[] = []
    const walk = (value: unknown, pointer: string): void => {
      if (typeof value !== 'object' || value === null) return
      if ('default' in value && !pointer.endsWith('/properties')) told.push(pointer)
      for (const [key, each] of Object.entries(value))
        if (!/^examples?$/.test(key)) walk(each, `${pointer}/${key}`)
    }
    for (const [name, schema] of Object.entries(document.components.schemas!))
      if (!sent.has(name)) walk(schema, name)
    for (const { operationId, responses } of everyOperation()) walk(responses, operationId)
    expect(told).toEqual([])
    const { BlockStyle, FaqDesign } = document.components.schemas as Record<string, JsonSchema>
    expect(BlockStyle!.required).toEqual(Object.keys(BlockStyle!.properties as object))
    expect(FaqDesign!.required).toEqual(expect.arrayContaining(['title', 'style', 'items', 'openFirst']))
  })

  test('says by which field the objects of a choice are told apart', () => {
    const { discriminator, anyOf } = document.components.schemas!.GadgetShapeUpdate as JsonSchema
    const mapping = { circle: '#/components/schemas/Circle', corners: '#/components/schemas/Corners' }
    expect(discriminator).toEqual({ propertyName: 'type', mapping })
    expect(anyOf).toEqual(Object.values(mapping).map(($ref) => ({ $ref })))
    const untold: string[] = []
    const isObject = (schema: JsonSchema): boolean => resolved(schema).type === 'object'
    const walk = (value: unknown, pointer: string): void => {
      if (typeof value !== 'object' || value === null) return
      const { anyOf: choices } = value as { anyOf?: JsonSchema[] }
      if (Array.isArray(choices) && choices.filter(isObject).length > 1 && !('discriminator' in value))
        untold.push(pointer)
      for (const [key, each] of Object.entries(value)) walk(each, `${pointer}/${key}`)
    }
    walk(document.components.schemas, '')
    // Which of them it is stands beside them: `source`, `type` and `type`.
    expect(untold).toEqual([
      '/ContactList/properties/filters/anyOf/0',
      '/ContentBlock/properties/design',
      '/InboxMessage/properties/content/anyOf/0',
    ])
  })

  test('is the same each time, and written once', () => {
    expect(openApiDocument(registry)).toEqual(document)
    expect(JSON.parse(openApiText(registry))).toEqual(document)
    expect(openApiText(registry)).toBe(openApiText(registry))
  })

  test('is made ahead in turns, and is there at once for whoever asks in between', async () => {
    const ahead = { ...registry, operations: [...registry.operations] }
    let turns = 0
    const counting = setInterval(() => (turns += 1), 0)
    await prepareOpenApi(ahead)
    clearInterval(counting)
    expect(turns).toBeGreaterThan(0)
    expect(openApiText(ahead)).toBe(openApiText(registry))
    const asked = { ...registry, operations: [...registry.operations] }
    const preparing = prepareOpenApi(asked)
    expect(openApiText(asked)).toBe(openApiText(registry))
    await preparing
  })

  test('names the file of an operation that cannot be published', () => {
    const twin = operation({
      method: 'GET',
      path: '/twin',
      description: 'Answer another gadget.',
      scopes: ['platform:read'],
      readOnly: true,
      answer: { status: 200, body: named('Gadget', object({ count })) },
      handler: () => ({ count: 1 }),
    })
    const loaded = loadedOperation('operations/gadgets/twin.ts', madeUpOperations[0]!.section, twin)
    expect(() => openApiDocument({ ...registry, operations: [...registry.operations, loaded] })).toThrow(
      'operations/gadgets/twin.ts: two different schemas are named Gadget',
    )
  })

  test('names the file of a choice whose objects have no names', () => {
    const choice = z.discriminatedUnion('is', [
      object({ is: z.literal('one') }),
      object({ is: z.literal('other') }),
    ])
    const twin = operation({
      method: 'GET',
      path: '/twin',
      description: 'Answer one or the other.',
      scopes: ['platform:read'],
      readOnly: true,
      answer: { status: 200, body: object({ choice }) },
      handler: () => ({ choice: { is: 'one' as const } }),
    })
    const loaded = loadedOperation('operations/gadgets/twin.ts', madeUpOperations[0]!.section, twin)
    expect(() => openApiDocument({ ...registry, operations: [...registry.operations, loaded] })).toThrow(
      'operations/gadgets/twin.ts: a choice of objects by their is: give each a name',
    )
  })
})

describe('an operation', () => {
  const names = (id: string): unknown[] => inDocument(id).parameters!.map((each) => resolved(each).name)

  test('has its query parameters with their schemas', () => {
    expect(inDocument('get_gadgets').parameters!.map(resolved)).toEqual([
      {
        name: 'page',
        in: 'query',
        description: 'Page, from 1',
        schema: { type: 'integer', minimum: 1, maximum: 100_000, default: 1 },
      },
      expect.objectContaining({ name: 'limit' }),
      expect.objectContaining({
        name: 'since',
        required: true,
        description: 'From this day on',
        example: '2026-11-01',
      }),
      {
        name: 'kinds',
        in: 'query',
        schema: {
          type: 'array',
          items: { type: 'string', enum: ['round', 'square'] },
          minItems: 1,
          maxItems: 50,
        },
        style: 'form',
        explode: false,
        example: ['round', 'square'],
      },
      { name: 'sold', in: 'query', schema: { type: 'boolean' } },
      { name: 'least', in: 'query', schema: { type: 'integer', minimum: 0, maximum: 9 } },
    ])
  })

  test('has its path parameters, described', () => {
    expect(
      inDocument('post_gadgets_by_id_screws_by_screwId_tighten').parameters!.slice(0, 2).map(resolved),
    ).toEqual([
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'Id of one of the gadgets',
        schema: { type: 'string' },
      },
      {
        name: 'screwId',
        in: 'path',
        required: true,
        description: 'The screw, as the gadget names it',
        schema: { type: 'string' },
      },
    ])
  })

  test('takes the headers that mean something to it', () => {
    expect(names('patch_gadgets_by_id')).toEqual(['id', 'Idempotency-Key', 'If-Match'])
    expect(names('post_gadgets')).toEqual(['Idempotency-Key'])
    expect(names('get_gadgets_by_id')).toEqual(['id', 'If-None-Match'])
    expect(names('get_gadget_weather')).toEqual(['If-None-Match'])
  })

  test('has a body that is required when a field is', () => {
    expect(inDocument('post_gadgets').requestBody).toMatchObject({
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/GadgetInput' } } },
    })
    expect(document.components.schemas!.GadgetInput).toMatchObject({
      properties: { id: { readOnly: true } },
      required: ['name'],
    })
    expect(inDocument('patch_gadgets_by_id').requestBody!.required).toBe(false)
    expect(inDocument('put_gadget_shape').requestBody!.required).toBe(true)
    expect(inDocument('delete_gadgets_by_id')).not.toHaveProperty('requestBody')
  })

  test('has one answer, with its schema, and none with 204', () => {
    expect(resolved(inDocument('post_gadgets').responses[201])).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Gadget' } } },
      headers: { ETag: { $ref: '#/components/headers/ETag' } },
    })
    expect(resolved(inDocument('delete_gadgets_by_id').responses[204])).not.toHaveProperty('content')
    expect(resolved(inDocument('get_gadgets').responses[200])).toMatchObject({
      headers: { 'X-Total-Capped': expect.anything() },
      content: {
        'application/json': {
          schema: { properties: { data: { items: { $ref: '#/components/schemas/Gadget' } } } },
        },
      },
    })
  })

  test('tells its own refusals in its own words', () => {
    expect(inDocument('post_gadgets').responses[409]).toEqual({
      $ref: '#/components/responses/E409',
      description: 'A gadget has this name already',
    })
  })

  test('declares 304 where it can be told that nothing changed', () => {
    for (const { id, spec } of registry.operations) {
      expect('304' in inDocument(id).responses, id).toBe(
        spec.readOnly && (spec.etag === true || spec.cache !== undefined),
      )
    }
    expect(resolved(inDocument('get_gadget_weather').responses[304])).not.toHaveProperty('content')
  })

  test('that is public says why', () => {
    expect(inDocument('get_gadget_weather')['x-public-reason']).toBe('The weather is no secret.')
    expect(inDocument('get_openapi_json').security).toEqual([{ apiKey: [] }, {}])
  })
})

describe('its bodies', () => {
  const nameOfBody = (id: string): string | undefined => {
    const { $ref } = inDocument(id).requestBody!.content['application/json'].schema
    return ($ref as string | undefined)?.split('/').at(-1)
  }

  test('have a name each, for the types that generators make of them', () => {
    const withBody = registry.operations.filter(({ spec }) => spec.input?.body)
    expect(withBody.length).toBeGreaterThan(100)
    const named = Object.fromEntries(withBody.map(({ id }) => [id, nameOfBody(id)]))
    const unnamed = Object.entries(named).filter(
      ([, name]) => !/^[A-Z][A-Za-z0-9]+(Input|Update)$/.test(name ?? ''),
    )
    expect(unnamed).toEqual([])
    expect(named).toMatchObject({
      post_campaigns: 'CampaignInput',
      put_campaigns_by_id: 'CampaignUpdate',
      post_campaigns_by_id_schedule: 'CampaignsScheduleInput',
      patch_store: 'StoreUpdate',
    })
  })

  test('have no default in them, for which generators would have callers send the field; its words have', () => {
    const schemas = Object.entries(document.components.schemas!)
    const bodies = schemas.filter(([name]) => /(Input|Update)$/.test(name))
    expect(bodies.filter(([, schema]) => JSON.stringify(schema).includes('"default":'))).toEqual([])
    expect(
      bodies.filter(([, schema]) => JSON.stringify(schema).includes('Default: ')).length,
    ).toBeGreaterThan(5)
  })

  test('have the types of fields that are accepted and ignored, where the answer has the field', () => {
    const untyped: string[] = []
    let readOnly = 0
    const walk = (value: unknown, pointer: string): void => {
      if (typeof value !== 'object' || value === null) return
      if ((value as JsonSchema).readOnly === true) {
        readOnly += 1
        if (!['type', '$ref', 'anyOf'].some((key) => key in value)) untyped.push(pointer)
      }
      for (const [key, each] of Object.entries(value)) walk(each, `${pointer}/${key}`)
    }
    for (const [name, schema] of Object.entries(document.components.schemas!)) walk(schema, name)
    expect(readOnly).toBeGreaterThan(400)
    expect(untyped.map((pointer) => pointer.replaceAll('/properties', ''))).toEqual([
      'NewsletterPreviewInput/settings/updatedAt',
      'NewsletterPreviewInput/settings/roulette/prizes/items/won',
      'QuickReplyInput/rendered',
    ])
  })

  test('of a free object have the fields that are known', () => {
    const { properties, additionalProperties } = document.components.schemas!.StoreUpdate as JsonSchema
    expect(Object.keys(properties as object)).toEqual(
      expect.arrayContaining(['name', 'timezone', 'settings', 'preferences', 'messagingConnectionType']),
    )
    expect(additionalProperties).toEqual({})
  })

  test('say of nothing that it is what nothing fits', () => {
    expect(JSON.stringify(document)).not.toContain('"not":{}')
  })
})

describe('its schemas and examples', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)

  /** Every place of a schema, as a JSON pointer, with the example beside it. */
  function places(): { pointer: string; example?: unknown }[] {
    const found: { pointer: string; example?: unknown }[] = []
    const walk = (value: unknown, pointer: string): void => {
      if (typeof value !== 'object' || value === null) return
      if ('examples' in value && Array.isArray(value.examples)) {
        for (const example of value.examples) found.push({ pointer, example })
      }
      if ('default' in value && ('type' in value || 'anyOf' in value)) {
        found.push({ pointer, example: value.default })
      }
      for (const [key, child] of Object.entries(value)) {
        const below = `${pointer}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`
        if (key === 'schema')
          found.push({ pointer: below, ...('example' in value ? { example: value.example } : {}) })
        if (key !== 'example' && key !== 'examples') walk(child, below)
      }
    }
    walk(document.paths, '/paths')
    for (const kind of ['parameters', 'headers', 'responses'])
      walk(document.components[kind], `/components/${kind}`)
    for (const [name, schema] of Object.entries(document.components.schemas!)) {
      found.push({ pointer: `/components/schemas/${name}` })
      walk(schema, `/components/schemas/${name}`)
    }
    return found
  }

  test.runIf(isFullSuite)('are JSON Schema 2020-12, and every example is valid', () => {
    ajv.addSchema({ $id: 'api:document', ...document })
    const all = places()
    expect(all.length).toBeGreaterThan(registry.operations.length)
    for (const { pointer, ...rest } of all) {
      const schema = pointer
        .split('/')
        .slice(1)
        .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document)
      expect(ajv.validateSchema(schema as JsonSchema), `${pointer}: ${ajv.errorsText()}`).toBe(true)
      const validate = ajv.compile({ $ref: `api:document#${pointer}` })
      if ('example' in rest) {
        expect(validate(rest.example), `${pointer}: ${ajv.errorsText(validate.errors)}`).toBe(true)
      }
    }
  })

  /** As readers and mock servers put an answer's example together, each knowing no more than this. */
  function composed(schema: JsonSchema): unknown {
    const { examples, type, properties, items, prefixItems, anyOf, ...rest } = resolved(schema) as {
      examples?: unknown[]
      type?: string | string[]
      properties?: Record<string, JsonSchema>
      items?: JsonSchema
      prefixItems?: JsonSchema[]
      anyOf?: JsonSchema[]
      [key: string]: unknown
    }
    if (examples) return examples[0]
    if ('const' in rest) return rest.const
    if ('default' in rest) return rest.default
    if (Array.isArray(rest.enum)) return rest.enum[0]
    if (anyOf) return composed(anyOf[0]!)
    switch ([type].flat()[0]) {
      case 'object':
        return Object.fromEntries(
          Object.entries(properties ?? {}).map(([key, each]) => [key, composed(each)]),
        )
      case 'array': {
        const least = Math.max(Number(rest.minItems ?? 1), 1)
        return (
          prefixItems?.map(composed) ?? (items ? Array.from({ length: least }, () => composed(items)) : [])
        )
      }
      case 'integer':
      case 'number':
        return rest.minimum ?? Number(rest.exclusiveMinimum ?? -1) + 1
      case 'boolean':
        return true
      case 'string':
        return (
          formatted[`${rest.format}`] ??
          'string'.padEnd(Number(rest.minLength ?? 0), 's').slice(0, Number(rest.maxLength ?? 6))
        )
      default:
        return null
    }
  }
  const formatted: Record<string, string> = {
    uuid: '497f6eca-6276-4993-bfeb-53cbbba6f08e',
    email: 'user@example.com',
    date: '2026-08-24',
    uri: 'http://example.com',
  }

  test('an example of a body is taken by the operation, one of an answer is one', () => {
    for (const { id, file, spec } of registry.operations) {
      const { requestBody, responses } = inDocument(id)
      const sent = requestBody?.content['application/json'].example
      const answer = resolved<Response>(responses[spec.answer.status]!).content?.['application/json']
      const answered = answer && ('example' in answer ? answer.example : composed(answer.schema))
      const remedy = `${file}: write an example that its schema takes`
      if (spec.input?.body) expect(spec.input.body.safeParse(sent).error?.issues, remedy).toBeUndefined()
      if (spec.answer.body) expect(spec.answer.body.safeParse(answered).error?.issues, remedy).toBeUndefined()
    }
  })
})
