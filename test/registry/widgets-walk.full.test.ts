/**
 * What the storefront shows is kept until the store's revision moves. Each write of a section that shows something is
 * made on the demo, where everything is on, with one field changed after the other: after it the copy that is kept and
 * one that is built anew say the same.
 */
import { describe, expect, test } from 'vitest'
import { readersOf } from '#runtime/gateway/if-match'
import { wholeRegistry } from '#test/support/app'
import { bodyOf, lastOf, namesInBody, openDemo, pathOf } from './demo.ts'

const registry = await wholeRegistry()
const sectionOf = (file: string): string => /\boperations\/([^/]+)/.exec(file)?.[1] ?? file.split('/')[0]!
const showing = new Set(
  registry.wirings.flatMap(({ file, given }) => ('widgets' in given ? [sectionOf(file)] : [])),
)
const { app, storeId, send, namesOf, readNow } = await openDemo()
const [{ public_id: publicId }] = (await app.database.query<{ public_id: string }>(
  'select public_id from stores where id = $1',
  [storeId],
)) as [{ public_id: string }]

/** Each from a visitor of its own: one alone would soon have looked too often. */
let looks = 0
/** What pages show; `isFresh`: by a query that nobody asked before, for a product that is none. */
async function shown(isFresh: boolean, pages = ['product&productId=1001']): Promise<object[]> {
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

/** The body with each of its values another, one at a time: to what is as good as it. */
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

const writes = registry.operations.filter(({ file, spec }) => !spec.readOnly && showing.has(sectionOf(file)))
writes.sort((a, b) => lastOf(a) - lastOf(b))
const moved = new Set<string>()
let last = await shown(true)

describe('after each write the copy that is kept is what would be built', () => {
  test.each(writes.map((each) => [each.id, each] as const))('%s', async (_id, operation) => {
    const { spec } = operation
    const names = await namesOf(operation)
    const own = namesInBody(operation, names)
    const example = bodyOf(operation, {}, own)
    const isWhole =
      ['PUT', 'PATCH'].includes(spec.method) && readersOf(registry.operations, operation).length > 0
    const body = isWhole ? bodyOf(operation, await readNow(operation, names, example), own) : example
    for (const each of body && isWhole ? changedBodies(body) : [body]) {
      const { status } = await send(spec.method, pathOf(spec.path, names), each)
      if (status >= 300) continue
      const [kept, fresh] = [await shown(false), await shown(true)]
      expect(kept, JSON.stringify(each)).toEqual(fresh)
      if (JSON.stringify(fresh) !== JSON.stringify(last)) moved.add(operation.id)
      last = fresh
    }
    await app.drainJobs({ allowFailures: true })
    const all = ['home', 'product&productId=1001']
    expect(await shown(false, all)).toEqual(await shown(true, all))
  })

  test('many of them change what is shown', () => expect(moved.size).toBeGreaterThan(25))
})
