/**
 * Proves that each check of a declaration can fail. All issues are reported at once, each with its file and remedy.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sortByRoute } from '#runtime/http/api'
import { loadRegistry, operationId, RegistryError, readRegistry } from '#runtime/registry/registry'
import { createProject, sectionFile } from './project-trees.ts'

const operationFile = (changes: Record<string, string> = {}): string => {
  const fields = {
    method: "'GET'",
    path: "'/things'",
    description: "'List things.'",
    scopes: "['platform:read']",
    readOnly: 'true',
    answer: '{ status: 200, body: object({ a: z.string() }) }',
    handler: "() => ({ a: 'b' })",
    ...changes,
  }
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `  ${key}: ${value},`)
  return `import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
export default operation({
${lines.join('\n')}
} as never)
`
}

test('two different schemas with one name are an issue, also nested; equal ones are not', async () => {
  const withBody = (path: string, body: string) =>
    operationFile({
      path: `'${path}'`,
      answer: `{ status: 200, body: object({ list: z.array(named('Thing', ${body})) }) }`,
    }).replace('import { object }', 'import { named, object }')
  const { issues } = await readRegistry(
    createProject({
      'things/api/a.ts': withBody('/a', 'object({ a: z.string() })'),
      'things/api/b.ts': withBody('/b', 'object({ a: z.string() })'),
      'things/api/c.ts': withBody('/c', 'object({ c: z.string() })'),
    }),
  )
  expect(issues).toEqual([
    {
      file: 'operations/things/api/c.ts',
      wrong: expect.stringContaining('two different schemas are named Thing'),
      remedy: expect.any(String),
    },
  ])
})

describe('each check can fail', () => {
  test.each<[string, string, RegExp]>([
    ['no default export', 'export const a = 1', /has no default export → write `export default operation/],
    ['something else', "export default { kind: 'other' }", /its default export is no operation/],
    ['a broken import', "import './nowhere.ts'", /cannot be loaded/],
    ['one that throws null', 'throw null', /cannot be loaded \(null\)/],
    [
      'an unknown scope',
      operationFile({ scopes: "['platform:fly']" }),
      /scope platform:fly is unknown → one of/,
    ],
    ['no scopes', operationFile({ scopes: '' }), /has no scopes/],
    [
      'an extra scope alone',
      operationFile({ scopes: "['messages:send']", readOnly: 'false' }),
      /messages:send stands without platform:write → add platform:write/,
    ],
    [
      'readOnly with write',
      operationFile({ scopes: "['platform:write']" }),
      /is readOnly and asks for platform:write/,
    ],
    ['a write with read', operationFile({ readOnly: 'false' }), /writes and does not ask for platform:write/],
    ['no readOnly', operationFile({ readOnly: '' }), /does not say readOnly/],
    ['no answer', operationFile({ answer: '' }), /has no answer/],
    ['an answer without schema', operationFile({ answer: '{ status: 200 }' }), /its answer has no schema/],
    ['a body with 204', operationFile({ answer: '{ status: 204, body: object({}) }' }), /204 has no body/],
    ['another status', operationFile({ answer: '{ status: 418, body: object({}) }' }), /answers 418/],
    ['a bad method', operationFile({ method: "'FETCH'" }), /method FETCH is none/],
    ['a bad path', operationFile({ path: "'/Things/'" }), /not of the form/],
    ['no description', operationFile({ description: "''" }), /has no description/],
    ['no handler', operationFile({ handler: '' }), /has no handler/],
    [
      'a deprecation without its day',
      operationFile({ deprecated: "{ sunset: '2027-01-01' }" }),
      /is deprecated by undefined, which is no day → write it as 2026-11-20/,
    ],
    [
      'a sunset on no day',
      operationFile({ deprecated: "{ since: '2026-11-20', sunset: '2027-02-30' }" }),
      /is deprecated by 2027-02-30, which is no day/,
    ],
    [
      'a sunset before the deprecation',
      operationFile({ deprecated: "{ since: '2026-11-20', sunset: '2026-11-19' }" }),
      /its sunset is before its deprecation → set a later sunset/,
    ],
    [
      'a link that could end its header',
      operationFile({ deprecated: "{ since: '2026-11-20', link: '/docs>; rel=\"next' }" }),
      /its link \/docs>; rel="next is no address → write https:/,
    ],
    ['an unknown role', operationFile({ minimumRole: "'king'" }), /minimumRole king is unknown/],
    [
      'loose input',
      operationFile({ input: '{ query: z.object({ a: z.string() }) }' }),
      /query lets unknown fields pass/,
    ],
    [
      'loose input deep inside',
      operationFile({ input: '{ query: object({ a: z.array(z.object({})).max(3) }) }' }),
      /query\.a lets unknown fields pass/,
    ],
    [
      'a date',
      operationFile({ input: '{ query: object({ a: z.date() }) }' }),
      /query\.a \(ZodDate\) cannot be published/,
    ],
    [
      'a coercion',
      operationFile({ input: '{ query: object({ a: z.coerce.boolean() }) }' }),
      /query\.a \(coerce\) cannot be published/,
    ],
    [
      'a transform',
      operationFile({ input: '{ query: object({ a: z.string().transform(Number) }) }' }),
      /query\.a \(a transform\) cannot be published/,
    ],
    [
      'a list without a bound',
      operationFile({ input: '{ query: object({ a: z.array(z.string()) }) }' }),
      /query\.a is a list without a bound/,
    ],
    [
      'anything without a description',
      operationFile({ input: '{ query: object({ a: z.array(z.any()).max(3) }) }' }),
      /query\.a may be anything → write its shape, or \.describe\(\) why/,
    ],
    [
      'anything nested in a described field',
      operationFile({
        answer: "{ status: 200, body: object({ a: object({ b: z.unknown() }).describe('A') }) }",
      }),
      /answer\.a\.b may be anything/,
    ],
    [
      'a 202 without a monitor',
      operationFile({ answer: '{ status: 202, body: object({}) }' }),
      /answers 202 and names no monitor → write `monitor`/,
    ],
    [
      'a monitor without a 202',
      operationFile({ monitor: "'/things'" }),
      /answers 200 and names a monitor → leave monitor out/,
    ],
    [
      'a monitor that is no read',
      operationFile({ answer: '{ status: 202, body: object({}) }', monitor: "'/nothing?a=b'" }),
      /its monitor \/nothing\?a=b is no read/,
    ],
    [
      'a monitor with an unknown parameter',
      operationFile({
        path: "'/things/:id'",
        answer: '{ status: 202, body: object({ jobId: z.string() }) }',
        monitor: "'/things/:listId'",
      }),
      /its monitor has the unknown parameter :listId → name a parameter/,
    ],
    ['a GET with a body', operationFile({ input: '{ body: object({}) }' }), /a GET takes no body/],
  ])('%s', async (_name, text, expected) => {
    const { issues } = await readRegistry(createProject({ 'things/api/list-things.ts': text }))
    expect(issues.map((fault) => `${fault.wrong} → ${fault.remedy}`).join('\n')).toMatch(expected)
    expect(issues[0]!.file).toBe('operations/things/api/list-things.ts')
  })

  test('two operations with the same method and path shape are an issue', async () => {
    const { issues } = await readRegistry(
      createProject({
        'things/api/a.ts': operationFile({ path: "'/things/:id'" }),
        'things/deep/api/b.ts': operationFile({ path: "'/things/:thingId'" }),
      }),
    )
    expect(issues).toHaveLength(1)
    expect(issues[0]!.wrong).toContain('answers the same requests as')
  })

  const jobFile = (name: string, safeTwice = 'it is') => `import { job } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { z } from '#runtime/schema'
export default job(handle('${name}', z.object({})), { description: 'x', retry: { limit: 1, backoffSeconds: 1 },
  timeoutSeconds: 1, safeTwice: '${safeTwice}', async run() {} })`

  test('a job without safeTwice and two jobs with one handle are issues', async () => {
    const { issues } = await readRegistry(
      createProject({
        'things/jobs/a.ts': jobFile('a', ''),
        'more/section.ts': sectionFile,
        'more/jobs/a.ts': jobFile('a'),
      }),
    )
    expect(issues.map((fault) => fault.wrong).join()).toMatch(/safe to run twice/)
    expect(issues.map((fault) => fault.wrong).join()).toMatch(/takes the handle a, as .* does/)
    expect(issues).toHaveLength(2)
  })

  test('a job with the name of another job`s fan-out is an issue', async () => {
    const every = 'every: { seconds: 60, stores: () => null }, retry'
    const { issues } = await readRegistry(
      createProject({
        'things/jobs/a.ts': jobFile('a').replace('retry', every),
        'things/jobs/a-all.ts': jobFile('a-all'),
      }),
    )
    expect(issues.filter((each) => each.file.includes('/jobs/')).map((each) => each.wrong)).toEqual([
      'takes the handle a-all, as operations/things/jobs/a-all.ts does',
    ])
  })

  test('a job whose file and handle differ in name is an issue', async () => {
    const { issues } = await readRegistry(createProject({ 'things/jobs/a.ts': jobFile('b') }))
    expect(issues).toEqual([
      {
        file: 'operations/things/jobs/a.ts',
        wrong: 'takes the handle b',
        remedy: "name the file b.ts, or take the handle a: jobs lie queued under the handle's name",
      },
    ])
  })

  test('a file without a section is an issue', async () => {
    const path = createProject({})
    mkdirSync(join(path, 'lost/api'), { recursive: true })
    writeFileSync(join(path, 'lost/api/list-things.ts'), operationFile())
    expect((await readRegistry(path)).issues[0]!.wrong).toContain('has no section.ts')
  })
})

test('all issues of all files are thrown at once', async () => {
  const path = createProject({
    'things/api/a.ts': operationFile({ scopes: "['nothing']", description: "''" }),
    'things/api/b.ts': 'export const b = 1',
  })
  const error = await loadRegistry(path).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(RegistryError)
  expect((error as RegistryError).message.split('\n').length).toBeGreaterThanOrEqual(3)
})

test('static segments win over parameters in any order of files', async () => {
  const { registry } = await readRegistry(
    createProject({
      'things/api/a.ts': operationFile({ path: "'/things/:id'" }),
      'things/api/b.ts': operationFile({ path: "'/things/special'" }),
      'things/api/c.ts': operationFile({ path: "'/:any/special'" }),
      'things/api/d.ts': operationFile({ path: "'/things/:id/parts'" }),
    }),
  )
  const paths = sortByRoute(registry.operations).map((route) => route.spec.path)
  expect(paths.indexOf('/things/special')).toBeLessThan(paths.indexOf('/things/:id'))
  expect(paths.indexOf('/things/:id')).toBeLessThan(paths.indexOf('/:any/special'))
})

test.each([
  ['DELETE', '/stores/team/members/:userId', 'delete_stores_team_members_by_userId'],
  ['GET', '/openapi.json', 'get_openapi_json'],
  ['POST', '/campaigns/:id/messages/:messageId/retry', 'post_campaigns_by_id_messages_by_messageId_retry'],
])('%s %s is %s', (method, path, id) => {
  expect(operationId(method, path)).toBe(id)
})
