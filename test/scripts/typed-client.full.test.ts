/** A client with types generated from the live document, in a real flow: list, contacts, campaign. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import { afterAll, expect, test } from 'vitest'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
const root = join(import.meta.dirname, '../..')
const folder = await mkdtemp(join(tmpdir(), 'merchant-client-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const program = `
import createClient from 'openapi-fetch'
import type { paths } from './api.ts'

export async function campaign(key: string, fetch: (request: Request) => Promise<Response>, drain: () => Promise<void>) {
  const api = createClient<paths>({ baseUrl: 'http://localhost/v1', headers: { authorization: 'Bearer ' + key }, fetch })
  const list = await api.POST('/campaigns/lists', { body: { name: 'Friends of the shop' } })
  if (list.error) throw new Error(list.error.error.message)
  for (const phone of ['+5511977770021', '+5511977770022']) {
    const params = { path: { id: list.data.id } }
    const added = await api.POST('/campaigns/lists/{id}/contacts', { params, body: { phone, name: 'Paula' } })
    if (added.error) throw new Error(added.error.error.message)
  }
  const content = { type: 'text' as const, text: 'Hello {{firstName|friend}}' }
  const made = await api.POST('/campaigns', { body: { name: 'Hello', listId: list.data.id, content } })
  if (made.error) throw new Error(made.error.error.message)
  const params = { path: { id: made.data.id } }
  const sent = await api.POST('/campaigns/{id}/send', { params })
  if (sent.error) throw new Error(sent.error.error.message)
  await drain()
  const read = await api.GET('/campaigns/{id}', { params })
  const messages = await api.GET('/campaigns/{id}/messages', { params: { ...params, query: { limit: 10 } } })
  return { status: read.data?.status, sent: read.data?.counters.sent, texts: messages.data?.data.map((each) => each.text) }
}
`

test('the client type-checks and works', async () => {
  const document = await app.fetch(new Request('http://localhost/v1/openapi.json'), { ip: '1.1.1.1' })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'api.ts'), astToString(await openapiTS((await document.json()) as never)))
  await writeFile(join(folder, 'client.ts'), program)
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2024',
    lib: ['es2024', 'dom'],
    types: [],
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['client.ts'] }))
  const faults = await new Promise<string>((resolve, reject) =>
    execFile(
      process.execPath,
      [join(root, 'node_modules/typescript7/bin/tsc'), '--project', folder],
      (error, out) => (error && !out ? reject(error) : resolve(out)),
    ),
  )
  expect(faults).toBe('')

  const shop = await store(app)
  await connectNumber(await shop.context(), { type: 'qr', phone: '+5511900001111' })
  const { campaign } = await import(pathToFileURL(join(folder, 'client.ts')).href)
  const result = await campaign(
    shop.key,
    (request: Request) => app.fetch(request, { ip: '1.1.1.1' }),
    () => app.drainJobs(),
  )
  expect(result).toEqual({ status: 'sent', sent: 2, texts: ['Hello Paula', 'Hello Paula'] })
})
