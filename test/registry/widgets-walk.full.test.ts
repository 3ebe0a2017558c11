/**
 * Widget data is cached until the store's revision moves. Runs each write of sections with widgets on the demo,
 * changing one field at a time: the cached and the rebuilt data must be equal after each write.
 */
import { describe, expect, test } from 'vitest'
import { getIfMatchReaders } from '#runtime/gateway/if-match'
import { wholeRegistry } from '#test/support/app'
import { buildBody, buildPath, getRunOrder, openDemo, pickBodyNames } from './demo.ts'

const registry = await wholeRegistry()
const getSection = (file: string): string => /\boperations\/([^/]+)/.exec(file)?.[1] ?? file.split('/')[0]!
const showing = new Set(
  registry.sectionExtensions.flatMap(({ file, given }) => ('widgets' in given ? [getSection(file)] : [])),
)
const { app, storeId, send, namesOf, readNow } = await openDemo()
const [{ public_id: publicId }] = (await app.database.query<{ public_id: string }>(
  'select public_id from stores where id = $1',
  [storeId],
)) as [{ public_id: string }]

/** Every request uses another visitor, because of the rate limit. */
let looks = 0
/** Widget data of the pages; `isFresh` uses a new query for an unknown product, which bypasses the cache. */
async function readWidgets(isFresh: boolean, pages = ['product&productId=1001']): Promise<object[]> {
  looks += 1
  const cards = isFresh ? `1001,1002,none-${looks}` : '1001,1002'
  return Promise.all(
    pages.map(async (page) => {
      const path = `/storefront/${publicId}/widgets?page=${page}&cards=${cards}`
      const response = await app.fetch(new Request(`https://api.example.com${path}`), {
        ip: `10.0.${looks >> 8}.${looks & 255}`,
      })
      expect(response.status).toBe(200)
      const all = (await response.json()) as { cards: Record<string, unknown> }
      delete all.cards[`none-${looks}`]
      return all
    }),
  )
}

/** Copies of the body with one value changed to another valid one. */
function* changedBodies(body: object): Generator<object> {
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === 'boolean') yield { ...body, [name]: !value }
    else if (typeof value === 'number') yield { ...body, [name]: value + 1 }
    else if (typeof value === 'string' && /^#[\da-f]{6}$/i.test(value)) yield { ...body, [name]: '#123456' }
    else if (typeof value === 'string') yield { ...body, [name]: `${value} x` }
    else if (Array.isArray(value) && value.length > 1) yield { ...body, [name]: value.slice(1) }
    else if (value && typeof value === 'object' && !Array.isArray(value))
      for (const inner of changedBodies(value)) yield { ...body, [name]: inner }
  }
}

const writes = registry.operations.filter(({ file, spec }) => !spec.readOnly && showing.has(getSection(file)))
writes.sort((a, b) => getRunOrder(a) - getRunOrder(b))
const moved = new Set<string>()
let last = await readWidgets(true)

describe('after each write the cached data equals rebuilt data', () => {
  test.each(writes.map((each) => [each.id, each] as const))('%s', async (_id, operation) => {
    const { spec } = operation
    const names = await namesOf(operation)
    const own = pickBodyNames(operation, names)
    const example = buildBody(operation, {}, own)
    const isWhole =
      ['PUT', 'PATCH'].includes(spec.method) && getIfMatchReaders(registry.operations, operation).length > 0
    const body = isWhole ? buildBody(operation, await readNow(operation, names, example), own) : example
    for (const each of body && isWhole ? changedBodies(body) : [body]) {
      const { status } = await send(spec.method, buildPath(spec.path, names), each)
      if (status >= 300) continue
      const [kept, fresh] = [await readWidgets(false), await readWidgets(true)]
      expect(kept, JSON.stringify(each)).toEqual(fresh)
      if (JSON.stringify(fresh) !== JSON.stringify(last)) moved.add(operation.id)
      last = fresh
    }
    await app.drainJobs({ allowFailures: true })
    const all = ['home', 'product&productId=1001']
    expect(await readWidgets(false, all)).toEqual(await readWidgets(true, all))
  })

  test('over 25 writes change the widgets', () => expect(moved.size).toBeGreaterThan(25))
})
