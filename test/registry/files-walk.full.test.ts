/**
 * A stored file exists exactly as long as something references it: tested for every operation whose body may contain
 * a file URL. A published file cannot be overwritten.
 */

import { expect, test } from 'vitest'
import { buildExample } from '#runtime/documents/example'
import { publish } from '#runtime/documents/publish'
import { hourMs } from '#runtime/durations'
import { findReferences } from '#runtime/references'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { testApp, wholeRegistry } from '#test/support/app'
import { store } from '#test/support/store'
import { ensureResource, holders } from './holders.ts'
import { findReferenceFields, getBodySchema, withoutIndices } from './reference-fields.ts'
import { type Holder, sender, type World, world } from './world.ts'

const registry = await wholeRegistry()
const app = await testApp({ publicUrl: 'https://api.example.com' })
const getOperation = (id: string): LoadedOperation => registry.byId(id)!

/** Holders that expire or are never removed, so that the test cannot see the file go. */
const permanent: Record<string, string> = {
  'a message of the team, with a file': 'what was sent stays in its history',
  'a message of the inbox, with a file': 'what was sent stays in its history',
}

interface SavedFiles {
  holder: Holder
  at: World
  urls: string[]
  release: () => Promise<unknown>
}

const findFiles = (operation: LoadedOperation, body: unknown): { field: string; url: string }[] =>
  findReferences(getBodySchema(operation), body).flatMap(({ kind, field, value }) =>
    kind === 'file' ? [{ field, url: String(value) }] : [],
  )
/** Pictures in HTML texts have no reference annotation. */
const findPictures = (body: unknown): string[] =>
  [...JSON.stringify(body).matchAll(/<img src=\\"([^"\\]+)/g)].map(([, url]) => url!)

const filled = new Set<string>()

/** Saves the resource with the last body that contains files. */
async function saveWithFiles(holder: Holder): Promise<SavedFiles[]> {
  const ids = [...new Set([holder.create, holder.update])].filter((id) => id !== undefined)
  const all: SavedFiles[] = []
  for (const id of ids) {
    const operation = getOperation(id)
    const isFile = findReferenceFields(getBodySchema(operation)).some(({ kind }) => kind === 'file')
    if (!isFile) continue
    const at = await world(app, holder)
    const send = sender(at)
    const own: { body?: object; params?: Record<string, string> } = {}
    if (id === holder.create) own.params = (await holder.params?.(at)) ?? {}
    else {
      const there = await ensureResource(registry, holder, at)
      if (there !== null) own[holder.id!.in] = { [holder.id!.as]: there }
    }
    await app.drainJobs()
    const full = (await holder.full(at)).find(
      (body) => findFiles(operation, body).length + findPictures(body).length > 0,
    )
    if (!full) continue
    for (const { field } of findFiles(operation, full)) filled.add(`${id} ${withoutIndices(field)}`)
    const body = { ...full, ...own.body }
    const saved = await send(operation, body as never, own.params)
    expect([holder.name, saved.status < 300, saved.body?.error?.message]).toEqual([
      holder.name,
      true,
      undefined,
    ])
    const kept: string | undefined = saved.body?.id
    all.push({
      holder,
      at,
      urls: [...findFiles(operation, full).map(({ url }) => url), ...findPictures(full)],
      async release() {
        const answers = []
        if (holder.without && holder.update) {
          const place = holder.id ? { [holder.id.as]: kept } : {}
          const inBody = holder.id?.in === 'body' ? place : {}
          answers.push(
            await send(
              getOperation(holder.update),
              { ...holder.without, ...inBody },
              holder.id?.in === 'params' ? (place as Record<string, string>) : {},
            ),
          )
        } else if (holder.remove) {
          const parameters = getOperation(holder.remove).parameters
          answers.push(
            await send(
              getOperation(holder.remove),
              undefined,
              Object.fromEntries(parameters.map((name) => [name, name === 'productId' ? '1001' : kept!])),
            ),
          )
        }
        for (const { status, body: answer } of answers) {
          expect([holder.name, status < 300, answer?.error?.message]).toEqual([holder.name, true, undefined])
        }
      },
    })
  }
  return all
}

const findKey = async (url: string): Promise<string> => {
  const rows = await app.database.query<{ key: string }>('select key from files where url = $1', [url])
  return rows[0]!.key
}
const pass = async (hours: number): Promise<void> => {
  await app.advance(hours * hourMs + 60_000)
  await app.drainJobs({ allowFailures: true })
}

test('a file stays as long as it is referenced, and is deleted a day later', async () => {
  const held: SavedFiles[] = []
  for (const holder of holders) held.push(...(await saveWithFiles(holder)))
  const files = await Promise.all(
    held.flatMap(({ holder, urls, at }) =>
      urls.map(async (url) => ({ name: holder.name, at, url, key: await findKey(url) })),
    ),
  )
  const gone = async (): Promise<string[]> => {
    const found = await Promise.all(
      files.map(async ({ name, key }) => ((await app.services.adapters.storage.head(key)) ? [] : [name])),
    )
    return [...new Set(found.flat())].sort()
  }
  await pass(23)
  expect(await gone()).toEqual([])
  await pass(2)
  expect(await gone()).toEqual([])
  await pass(25)
  // A preview lives for a day; its pictures are deleted a day later.
  const preview = 'the preview of a popup'
  expect(await gone()).toEqual([preview])
  for (const { release } of held) await release()
  await pass(1)
  expect(await gone()).toEqual([preview])
  await pass(25)
  const names = [...new Set(files.map(({ name }) => name))].sort()
  expect(names.filter((name) => !permanent[name])).toEqual(await gone())
})

test('every field that may contain a file was filled', () => {
  const fields = registry.operations.flatMap((operation) =>
    operation.spec.readOnly
      ? []
      : findReferenceFields(getBodySchema(operation)).flatMap(({ field, kind }) =>
          kind === 'file' ? [`${operation.id} ${field}`] : [],
        ),
  )
  expect(fields.length).toBeGreaterThan(25)
  expect(fields.filter((field) => !filled.has(field))).toEqual([])
})

const givesLinks = registry.operations.filter(({ spec }) => {
  const shape = (spec.answer.body as { shape?: Record<string, unknown> } | undefined)?.shape
  return shape !== undefined && 'uploadUrl' in shape
})

test('an uploaded file cannot be overwritten through its link, for any purpose', async () => {
  const shop = await store(app)
  const links: [
    name: string,
    body: { fileName: string; contentType: string; size: number },
    ask: () => Promise<{ status: number; body: never }>,
  ][] = []
  for (const { id, spec } of givesLinks) {
    const given = (spec.example?.body ??
      buildExample(publish(spec.input!.body!))) as (typeof links)[number][1]
    const body = { ...given, size: 4 }
    links.push([id, body, () => shop.request(spec.method, spec.path, { body }) as never])
  }
  expect(links.length).toBeGreaterThan(7)
  for (const [name, { contentType }, ask] of links) {
    const link = await ask()
    expect([name, link.status]).toEqual([name, 200])
    const { uploadUrl, method, headers, fileUrl } = link.body as {
      uploadUrl: string
      method: string
      headers: Record<string, string>
      fileUrl: string
    }
    const put = async (text: string) =>
      (await app.fetch(new Request(uploadUrl, { method, headers, body: text }), { ip: '127.0.0.1' })).status
    expect([name, contentType, await put('once')]).toEqual([name, contentType, 200])
    expect([name, (await put('more')) >= 400]).toEqual([name, true])
    const key = await findKey(fileUrl)
    const { url } = await app.services.adapters.storage.signDownload(key, 60)
    const read = await app.fetch(new Request(url), { ip: '127.0.0.1' })
    expect([name, await read.text()]).toEqual([name, 'once'])
  }
})
