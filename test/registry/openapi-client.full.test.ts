import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getOpenApiText } from '#runtime/documents/openapi'
import { loadRegistry } from '#runtime/registry/registry'
import { withSampleOperations } from './sample-operations.ts'

const root = join(import.meta.dirname, '..', '..')
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'merchant-client-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('a client generated from the document type-checks, and its mistakes do not', async () => {
  const document = getOpenApiText(withSampleOperations(await loadRegistry()))
  await writeFile(join(folder, 'api.ts'), astToString(await openapiTS(document, { silent: true })))
  await writeFile(join(folder, 'merchant-api.ts'), "export type { components, paths } from './api.ts'\n")
  await writeFile(join(folder, 'client.ts'), client)
  await writeFile(join(folder, 'guide.ts'), await readGuideClient())
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2024',
    module: 'nodenext',
    lib: ['es2024', 'dom'],
    types: [],
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['client.ts', 'guide.ts'] }),
  )
  const tsc = join(root, 'node_modules/typescript7/bin/tsc')
  const faults = await new Promise<string>((resolve, reject) =>
    execFile(process.execPath, [tsc, '--project', folder], (error, out) =>
      error && !out ? reject(error) : resolve(out),
    ),
  )
  expect(faults).toBe('')
})

/** The client code shown in `/docs/guides/clients`. */
async function readGuideClient(): Promise<string> {
  const guide = await readFile(join(root, 'operations/discovery/CLIENTS.md'), 'utf8')
  const [, code] = /```ts\n([\s\S]+?)```/.exec(guide)!
  return code!
}

/** The check fails if a line marked as an error compiles. */
const client = `
import createClient from 'openapi-fetch'
import type { components, paths } from './api.ts'

const api = createClient<paths>({ baseUrl: 'http://localhost/v1', headers: { authorization: 'Bearer mk_test' } })

export async function program(): Promise<string> {
  const listed = await api.GET('/gadgets', { params: { query: { since: '2026-11-01', kinds: ['round'] } } })
  const first: components['schemas']['Gadget'] | undefined = listed.data?.data[0]
  const made = await api.POST('/gadgets', { body: { name: first?.name ?? 'Gadget', tint: null } })
  if (made.error) {
    const code: 'bad_request' | 'unauthorized' | 'forbidden' | 'not_found' | 'conflict' | 'payload_too_large'
      | 'rate_limited' | 'unavailable' = made.error.error.code
    return code
  }
  const maker: string | null | undefined = made.data.maker?.email
  const id = made.data.id
  await api.PATCH('/gadgets/{id}', { params: { path: { id }, header: { 'If-Match': 'x' } }, body: { note: null } })
  await api.DELETE('/gadgets/{id}', { params: { path: { id }, header: { 'Idempotency-Key': 'once' } } })
  await api.PUT('/gadget-shape', { body: { type: 'corners', points: [[1, 2], [3, 4], [5, 6]] } })
  await api.PATCH('/gadget-preferences', { body: { theme: { dark: true } } })
  const tightened = await api.POST('/gadgets/{id}/screws/{screwId}/tighten', { params: { path: { id, screwId: '1' } } })
  const status: 'queued' | undefined = tightened.data?.status
  const operations = await api.GET('/operations')
  const ids: string[] = operations.data?.data.map((each) => each.id) ?? []
  const version: '3.1.0' | undefined = (await api.GET('/openapi.json')).data?.openapi

  // @ts-expect-error a required parameter is missing
  await api.GET('/gadgets', { params: { query: {} } })
  // @ts-expect-error no such value
  await api.PUT('/gadget-shape', { body: { type: 'star' } })
  // @ts-expect-error name is required
  await api.POST('/gadgets', { body: { note: null } })
  // @ts-expect-error no such path
  await api.GET('/gizmos')
  return [maker, status, version, ...ids].join()
}
`
