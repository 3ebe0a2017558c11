/**
 * A file of ours is there for as long as something names it, and no longer: tried of every operation whose body may hold
 * its address. Nobody changes what is shown already.
 */

import { expect, test } from 'vitest'
import { exampleOf } from '#runtime/documents/example'
import { publish } from '#runtime/documents/publish'
import { hourMs } from '#runtime/durations'
import { namedIn } from '#runtime/references'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { testApp, wholeRegistry } from '#test/support/app'
import { store } from '#test/support/store'
import { holders, made } from './holders.ts'
import { bodySchemaOf, marksOf, withoutIndices } from './marks.ts'
import { type Holder, sender, type World, world } from './world.ts'

const registry = await wholeRegistry()
const app = await testApp({ publicUrl: 'https://api.example.com' })
const operationOf = (id: string): LoadedOperation => registry.byId(id)!

/** What is over by itself, or is never taken back: why its file is not seen to go. */
const lasting: Record<string, string> = {
  'a message of the team, with a file': 'what was sent stays in its history',
  'a message of the inbox, with a file': 'what was sent stays in its history',
}

interface Held {
  holder: Holder
  at: World
  urls: string[]
  release: () => Promise<unknown>
}

const filesIn = (operation: LoadedOperation, body: unknown): { field: string; url: string }[] =>
  namedIn(bodySchemaOf(operation), body).flatMap(({ kind, field, value }) =>
    kind === 'file' ? [{ field, url: String(value) }] : [],
  )
/** Pictures in texts of HTML have no mark. */
const picturesIn = (body: unknown): string[] =>
  [...JSON.stringify(body).matchAll(/<img src=\\"([^"\\]+)/g)].map(([, url]) => url!)

const filled = new Set<string>()

/** Saves it with files, in the last of the bodies that name one. */
async function hold(holder: Holder): Promise<Held[]> {
  const ids = [...new Set([holder.create, holder.update])].filter((id) => id !== undefined)
  const all: Held[] = []
  for (const id of ids) {
    const operation = operationOf(id)
    const isFile = marksOf(bodySchemaOf(operation)).some(({ kind }) => kind === 'file')
    if (!isFile) continue
    const at = await world(app, holder)
    const send = sender(at)
    const own: { body?: object; params?: Record<string, string> } = {}
    if (id === holder.create) own.params = (await holder.params?.(at)) ?? {}
    else {
      const there = await made(registry, holder, at)
      if (there !== null) own[holder.id!.in] = { [holder.id!.as]: there }
    }
    await app.drainJobs()
    const full = (await holder.full(at)).find(
      (body) => filesIn(operation, body).length + picturesIn(body).length > 0,
    )
    if (!full) continue
    for (const { field } of filesIn(operation, full)) filled.add(`${id} ${withoutIndices(field)}`)
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
      urls: [...filesIn(operation, full).map(({ url }) => url), ...picturesIn(full)],
      async release() {
        const answers = []
        if (holder.without && holder.update) {
          const place = holder.id ? { [holder.id.as]: kept } : {}
          const inBody = holder.id?.in === 'body' ? place : {}
          answers.push(
            await send(
              operationOf(holder.update),
              { ...holder.without, ...inBody },
              holder.id?.in === 'params' ? (place as Record<string, string>) : {},
            ),
          )
        } else if (holder.remove) {
          const parameters = operationOf(holder.remove).parameters
          answers.push(
            await send(
              operationOf(holder.remove),
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

const keyOf = async (url: string): Promise<string> => {
  const rows = await app.database.query<{ key: string }>('select key from files where url = $1', [url])
  return rows[0]!.key
}
const pass = async (hours: number): Promise<void> => {
  await app.advance(hours * hourMs + 60_000)
  await app.drainJobs({ allowFailures: true })
}

test('a file stays for as long as something names it, and goes a day later', async () => {
  const held: Held[] = []
  for (const holder of holders) held.push(...(await hold(holder)))
  const files = await Promise.all(
    held.flatMap(({ holder, urls, at }) =>
      urls.map(async (url) => ({ name: holder.name, at, url, key: await keyOf(url) })),
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
  // A preview lives a day: what it shows is over then, and its pictures a day later.
  const preview = 'the preview of a popup'
  expect(await gone()).toEqual([preview])
  for (const { release } of held) await release()
  await pass(1)
  expect(await gone()).toEqual([preview])
  await pass(25)
  const names = [...new Set(files.map(({ name }) => name))].sort()
  expect(names.filter((name) => !lasting[name])).toEqual(await gone())
})

test('every field that may hold a file was filled', () => {
  const fields = registry.operations.flatMap((operation) =>
    operation.spec.readOnly
      ? []
      : marksOf(bodySchemaOf(operation)).flatMap(({ field, kind }) =>
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

test('what was uploaded is not changed by its link again, whatever it is for', async () => {
  const shop = await store(app)
  const links: [
    name: string,
    body: { fileName: string; contentType: string; size: number },
    ask: () => Promise<{ status: number; body: never }>,
  ][] = []
  for (const { id, spec } of givesLinks) {
    const given = (spec.example?.body ?? exampleOf(publish(spec.input!.body!))) as (typeof links)[number][1]
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
    const key = await keyOf(fileUrl)
    const { url } = await app.services.adapters.storage.signDownload(key, 60)
    const read = await app.fetch(new Request(url), { ip: '127.0.0.1' })
    expect([name, await read.text()]).toEqual([name, 'once'])
  }
})
