/** The OpenAPI document as a whole. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApiDocument, openApiText, prepareOpenApi } from '#runtime/documents/openapi'
import { refusalName } from '#runtime/documents/openapi-parts'
import type { JsonSchema } from '#runtime/documents/publish'
import { errorCodes, statusOf } from '#runtime/errors'
import { operation } from '#runtime/operation'
import { loadedOperation, loadRegistry } from '#runtime/registry/registry'
import { count, named, object, z } from '#runtime/schema'
import { isFullSuite } from '#test/support/suite'
import { document, inDocument, type Operation, type Response, registry, resolved } from './document.ts'
import { madeUpOperations } from './made-up.ts'

const root = join(import.meta.dirname, '..', '..')
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'merchant-openapi-'))
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

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

  test.each([
    [
      'a name that another schema has',
      object({ of: named('Gadget', object({ count })) }),
      'two different schemas are named Gadget',
    ],
    [
      'a choice whose objects have no names',
      object({
        of: z.discriminatedUnion('is', [
          object({ is: z.literal('one') }),
          object({ is: z.literal('other') }),
        ]),
      }),
      'a choice of objects by their is: give each a name',
    ],
  ])('names the file of an operation that cannot be published for %s', (_name, body, wrong) => {
    const twin = operation({
      method: 'GET',
      path: '/twin',
      description: 'Answer another gadget.',
      scopes: ['platform:read'],
      readOnly: true,
      answer: { status: 200, body },
      handler: () => ({}) as never,
    })
    const loaded = loadedOperation('operations/gadgets/twin.ts', madeUpOperations[0]!.section, twin)
    expect(() => openApiDocument({ ...registry, operations: [...registry.operations, loaded] })).toThrow(
      `operations/gadgets/twin.ts: ${wrong}`,
    )
  })
})
