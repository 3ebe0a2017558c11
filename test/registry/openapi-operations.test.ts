/** Operations in the OpenAPI document: parameters, bodies, answers and valid examples. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '#runtime/documents/publish'
import { isFullSuite } from '#test/support/suite'
import { document, findOperation, type Response, registry, resolveReference } from './document.ts'

describe('an operation', () => {
  const names = (id: string): unknown[] =>
    findOperation(id).parameters!.map((each) => resolveReference(each).name)

  test('an operation has its query parameters with schemas', () => {
    expect(findOperation('get_gadgets').parameters!.map(resolveReference)).toEqual([
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

  test('an operation has described path parameters', () => {
    expect(
      findOperation('post_gadgets_by_id_screws_by_screwId_tighten')
        .parameters!.slice(0, 2)
        .map(resolveReference),
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

  test('an operation lists the headers it supports', () => {
    expect(names('patch_gadgets_by_id')).toEqual(['id', 'Idempotency-Key', 'If-Match'])
    expect(names('post_gadgets')).toEqual(['Idempotency-Key'])
    expect(names('get_gadgets_by_id')).toEqual(['id', 'If-None-Match'])
    expect(names('get_gadget_weather')).toEqual(['If-None-Match'])
  })

  test('a body is required if one of its fields is', () => {
    expect(findOperation('post_gadgets').requestBody).toMatchObject({
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/GadgetInput' } } },
    })
    expect(document.components.schemas!.GadgetInput).toMatchObject({
      properties: { id: { readOnly: true } },
      required: ['name'],
    })
    expect(findOperation('patch_gadgets_by_id').requestBody!.required).toBe(false)
    expect(findOperation('put_gadget_shape').requestBody!.required).toBe(true)
    expect(findOperation('delete_gadgets_by_id')).not.toHaveProperty('requestBody')
  })

  test('an operation has one answer with a schema, and none for 204', () => {
    expect(resolveReference(findOperation('post_gadgets').responses[201])).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Gadget' } } },
      headers: { ETag: { $ref: '#/components/headers/ETag' } },
    })
    expect(resolveReference(findOperation('delete_gadgets_by_id').responses[204])).not.toHaveProperty(
      'content',
    )
    expect(resolveReference(findOperation('get_gadgets').responses[200])).toMatchObject({
      headers: { 'X-Total-Capped': expect.anything() },
      content: {
        'application/json': {
          schema: { properties: { data: { items: { $ref: '#/components/schemas/Gadget' } } } },
        },
      },
    })
  })

  test('an answer 202 declares the Location of its monitor, and no other answer does', () => {
    for (const { id, spec } of registry.operations) {
      const { headers } = resolveReference(findOperation(id).responses[spec.answer.status])!
      expect('Location' in headers!, id).toBe(spec.answer.status === 202)
    }
    expect(document.components.headers).toHaveProperty('Location')
  })

  test('an operation describes its own errors', () => {
    expect(findOperation('post_gadgets').responses[409]).toEqual({
      $ref: '#/components/responses/E409',
      description: 'A gadget has this name already',
    })
  })

  test('a conditional read declares 304', () => {
    for (const { id, spec } of registry.operations) {
      expect('304' in findOperation(id).responses, id).toBe(
        spec.readOnly && (spec.etag === true || spec.cache !== undefined),
      )
    }
    expect(resolveReference(findOperation('get_gadget_weather').responses[304])).not.toHaveProperty('content')
  })

  test('a public operation has a reason', () => {
    expect(findOperation('get_gadget_weather')['x-public-reason']).toBe('The weather is no secret.')
    expect(findOperation('get_openapi_json').security).toEqual([{ apiKey: [] }, {}])
  })
})

describe('its bodies', () => {
  const nameOfBody = (id: string): string | undefined => {
    const { $ref } = findOperation(id).requestBody!.content['application/json'].schema
    return ($ref as string | undefined)?.split('/').at(-1)
  }

  test('bodies have unique names for generated types', () => {
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

  test('bodies declare no defaults, which generators would make required; the descriptions have them', () => {
    const schemas = Object.entries(document.components.schemas!)
    const bodies = schemas.filter(([name]) => /(Input|Update)$/.test(name))
    expect(bodies.filter(([, schema]) => JSON.stringify(schema).includes('"default":'))).toEqual([])
    expect(
      bodies.filter(([, schema]) => JSON.stringify(schema).includes('Default: ')).length,
    ).toBeGreaterThan(5)
  })

  test('ignored body fields have the type of the answer field', () => {
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

  test('free objects list their known fields', () => {
    const { properties, additionalProperties } = document.components.schemas!.StoreUpdate as JsonSchema
    expect(Object.keys(properties as object)).toEqual(
      expect.arrayContaining(['name', 'timezone', 'settings', 'preferences', 'messagingConnectionType']),
    )
    expect(additionalProperties).toEqual({})
  })

  test('no schema matches nothing', () => {
    expect(JSON.stringify(document)).not.toContain('"not":{}')
  })
})

describe('its schemas and examples', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)

  /** Every schema location as a JSON pointer, with its example. */
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

  test.runIf(isFullSuite)('schemas are JSON Schema 2020-12, and every example is valid', () => {
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

  /** Composes an answer's example like documentation viewers and mock servers do. */
  function composed(schema: JsonSchema): unknown {
    const { examples, type, properties, items, prefixItems, anyOf, ...rest } = resolveReference(schema) as {
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

  test('body and answer examples match the zod schemas of the operation', () => {
    for (const { id, file, spec } of registry.operations) {
      const { requestBody, responses } = findOperation(id)
      const sent = requestBody?.content['application/json'].example
      const answer = resolveReference<Response>(responses[spec.answer.status]!).content?.['application/json']
      const answered = answer && ('example' in answer ? answer.example : composed(answer.schema))
      const remedy = `${file}: write an example that its schema takes`
      if (spec.input?.body) expect(spec.input.body.safeParse(sent).error?.issues, remedy).toBeUndefined()
      if (spec.answer.body) expect(spec.answer.body.safeParse(answered).error?.issues, remedy).toBeUndefined()
    }
  })
})
