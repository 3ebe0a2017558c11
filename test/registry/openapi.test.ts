/** The OpenAPI document as a whole. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildOpenApi, getOpenApiText, prepareOpenApi } from '#runtime/documents/openapi'
import { toRefusalName } from '#runtime/documents/openapi-parts'
import type { JsonSchema } from '#runtime/documents/publish'
import { errorCodes, toHttpStatus } from '#runtime/errors'
import { operation } from '#runtime/operation'
import { loadOperation, loadRegistry } from '#runtime/registry/registry'
import { count, named, object, z } from '#runtime/schema'
import { isFullSuite } from '#test/support/suite'
import {
  document,
  findOperation,
  type Operation,
  type Response,
  registry,
  resolveReference,
} from './document.ts'
import { sampleOperations } from './sample-operations.ts'

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

/** Preloaded script that blocks network access and reports attempts. */
const noNetwork = `--import=data:text/javascript,${encodeURIComponent(`
  import net from 'node:net'
  net.Socket.prototype.connect = () => { console.error('NETWORK CALL'); process.exit(99) }
`)}`

describe('the document', () => {
  test.runIf(isFullSuite)('an offline linter finds no errors or warnings for OpenAPI 3.1', async () => {
    const config = join(folder, 'redocly.yaml')
    await writeFile(config, 'extends: [recommended]\n')
    const cli = join(root, 'node_modules/@redocly/cli/bin/cli.js')
    const file = join(folder, 'openapi.json')
    const lint = await runNode(noNetwork, cli, 'lint', file, '--config', config, '--format', 'json')
    expect(lint.err).not.toContain('NETWORK CALL')
    const { problems } = JSON.parse(lint.out) as { problems: { ruleId: string; message: string }[] }
    // Specified paths overlap (`/campaigns/lists/{id}`, `/campaigns/{id}/send`): the static one matches first.
    const ours = problems.filter(
      ({ ruleId, message }) => ruleId !== 'no-ambiguous-paths' || !message.includes('`/campaigns/'),
    )
    expect(ours).toEqual([])
    expect(lint.code).toBe(0)
  })

  test.runIf(isFullSuite)('the linter finds errors, and network access is blocked', async () => {
    const call = await runNode(noNetwork, '--eval', `fetch('http://127.0.0.1:8080')`)
    expect(call).toMatchObject({ code: 99, err: expect.stringContaining('NETWORK CALL') })
    const file = join(folder, 'wrong.json')
    await writeFile(file, JSON.stringify({ ...document, components: {} }))
    const cli = join(root, 'node_modules/@redocly/cli/bin/cli.js')
    expect((await runNode(noNetwork, cli, 'lint', file, '--extends', 'recommended')).code).toBe(1)
  })

  test('the document has its info section', () => {
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

  test('the document has every operation once, in registry order', () => {
    expect(
      everyOperation()
        .map((each) => each.operationId)
        .sort(),
    ).toEqual(registry.operations.map((each) => each.id).sort())
    expect(Object.keys(document.paths)).toEqual([
      ...new Set(registry.operations.map((each) => each.spec.path.replace(/:(\w+)/g, '{$1}'))),
    ])
    for (const { id, section, spec, minimumRole } of registry.operations) {
      const found = findOperation(id)
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

  test('every operation declares one success, eight error statuses and the common headers', () => {
    const limits = [
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'RateLimit-Policy',
      'RateLimit',
    ]
    const common = [...limits, 'X-Request-Id']
    const eight = ['400', '401', '403', '404', '409', '413', '429', '503']
    expect(errorCodes.map((code) => `${toHttpStatus(code)}`).toSorted()).toEqual(eight)
    for (const { id } of registry.operations) {
      const { responses } = findOperation(id)
      const codes = Object.keys(responses)
      expect(
        codes.filter((code) => code.startsWith('2')),
        id,
      ).toHaveLength(1)
      expect(codes.filter((code) => /^[45]/.test(code)).toSorted(), id).toEqual(eight)
      for (const code of errorCodes) {
        expect(responses[toHttpStatus(code)]!.$ref).toBe(`#/components/responses/${toRefusalName(code)}`)
      }
      for (const response of Object.values(responses)) {
        expect(Object.keys(resolveReference(response).headers!)).toEqual(expect.arrayContaining(common))
      }
    }
    for (const code of errorCodes) {
      const response = document.components.responses![toRefusalName(code)] as Response
      const waits = code === 'rate_limited' || code === 'unavailable' ? ['Retry-After'] : []
      expect(Object.keys(response.headers!)).toEqual([...common, ...waits])
      expect(response.content!['application/json'].schema).toMatchObject({
        properties: { error: { properties: { code: { const: code } }, required: ['code', 'message'] } },
      })
    }
  })

  test('a deprecated operation is marked, with its end, its replacement and the headers', () => {
    const { deprecated, description, responses } = findOperation('patch_gadget_preferences')
    expect(deprecated).toBe(true)
    expect(description).toContain(
      '**Deprecated** since 2026-11-20, may be gone from 2027-05-01: [what replaces it](/docs/guides/clients)',
    )
    const { headers } = resolveReference(responses[200]!)
    expect(Object.keys(headers!)).toEqual(expect.arrayContaining(['Deprecation', 'Sunset', 'Link']))
    expect(findOperation('get_gadgets')).not.toHaveProperty('deprecated')
  })

  test('every reference resolves', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)]
    expect(references.length).toBeGreaterThan(0)
    for (const [, kind, name] of references) expect(document.components[kind!]).toHaveProperty([name!])
  })

  test('shared parts occur once, and the document stays below 970 KB', async () => {
    expect(getOpenApiText(await loadRegistry()).length).toBeLessThan(970_000)
    const { parameters, responses } = document.components
    expect(parameters).toMatchObject({ page: { in: 'query' }, 'campaigns.id': { name: 'id', in: 'path' } })
    expect(responses).toMatchObject({ Nothing: {}, NotModified: {}, CampaignChanged: {} })
    expect(findOperation('delete_gadgets_by_id').responses[204]).toEqual({
      $ref: '#/components/responses/Nothing',
    })
    expect(findOperation('get_campaigns').parameters![0]).toEqual({ $ref: '#/components/parameters/page' })
  })

  test('answer schemas are open, request schemas closed', () => {
    const { Gadget, GadgetInput } = document.components.schemas as Record<string, JsonSchema>
    expect(Gadget).not.toHaveProperty('additionalProperties')
    expect(GadgetInput).toMatchObject({ additionalProperties: false })
  })

  test('answer schemas have no defaults, since the fields are always present', () => {
    const sent = new Set<string>()
    const reach = (value: unknown): void => {
      for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
        if (!sent.has(name!) && sent.add(name!)) reach(document.components.schemas![name!])
      }
    }
    for (const { requestBody } of everyOperation()) if (requestBody) reach(requestBody)
    const defaults: string[] = []
    const walk = (value: unknown, pointer: string): void => {
      if (typeof value !== 'object' || value === null) return
      if ('default' in value && !pointer.endsWith('/properties')) defaults.push(pointer)
      for (const [key, each] of Object.entries(value))
        if (!/^examples?$/.test(key)) walk(each, `${pointer}/${key}`)
    }
    for (const [name, schema] of Object.entries(document.components.schemas!))
      if (!sent.has(name)) walk(schema, name)
    for (const { operationId, responses } of everyOperation()) walk(responses, operationId)
    expect(defaults).toEqual([])
    const { BlockStyle, FaqDesign } = document.components.schemas as Record<string, JsonSchema>
    expect(BlockStyle!.required).toEqual(Object.keys(BlockStyle!.properties as object))
    expect(FaqDesign!.required).toEqual(expect.arrayContaining(['title', 'style', 'items', 'openFirst']))
  })

  test('unions of objects have a discriminator', () => {
    const { discriminator, anyOf } = document.components.schemas!.GadgetShapeUpdate as JsonSchema
    const mapping = { circle: '#/components/schemas/Circle', corners: '#/components/schemas/Corners' }
    expect(discriminator).toEqual({ propertyName: 'type', mapping })
    expect(anyOf).toEqual(Object.values(mapping).map(($ref) => ({ $ref })))
    const untold: string[] = []
    const isObject = (schema: JsonSchema): boolean => resolveReference(schema).type === 'object'
    const walk = (value: unknown, pointer: string): void => {
      if (typeof value !== 'object' || value === null) return
      const { anyOf: choices } = value as { anyOf?: JsonSchema[] }
      if (Array.isArray(choices) && choices.filter(isObject).length > 1 && !('discriminator' in value))
        untold.push(pointer)
      for (const [key, each] of Object.entries(value)) walk(each, `${pointer}/${key}`)
    }
    walk(document.components.schemas, '')
    // Their discriminator is a sibling field: `source`, `type` and `type`.
    expect(untold).toEqual([
      '/ContactList/properties/filters/anyOf/0',
      '/ContentBlock/properties/design',
      '/InboxMessage/properties/content/anyOf/0',
    ])
  })

  test('the document is deterministic and serialized once', () => {
    expect(buildOpenApi(registry)).toEqual(document)
    expect(JSON.parse(getOpenApiText(registry))).toEqual(document)
    expect(getOpenApiText(registry)).toBe(getOpenApiText(registry))
  })

  test('the document is built ahead in steps, and at once for a request in between', async () => {
    const ahead = { ...registry, operations: [...registry.operations] }
    let turns = 0
    const counting = setInterval(() => (turns += 1), 0)
    await prepareOpenApi(ahead)
    clearInterval(counting)
    expect(turns).toBeGreaterThan(0)
    expect(getOpenApiText(ahead)).toBe(getOpenApiText(registry))
    const asked = { ...registry, operations: [...registry.operations] }
    const preparing = prepareOpenApi(asked)
    expect(getOpenApiText(asked)).toBe(getOpenApiText(registry))
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
    const loaded = loadOperation('operations/gadgets/twin.ts', sampleOperations[0]!.section, twin)
    expect(() => buildOpenApi({ ...registry, operations: [...registry.operations, loaded] })).toThrow(
      `operations/gadgets/twin.ts: ${wrong}`,
    )
  })
})
