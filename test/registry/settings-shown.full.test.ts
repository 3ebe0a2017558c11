/** Each setting that the API changes shows on the next view of a shop's page. */
import { beforeAll, describe, expect, test } from 'vitest'
import createBadge from '#operations/product-page/labels/api/create-badge'
import createSticker from '#operations/product-page/labels/api/create-sticker'
import saveLook from '#operations/product-page/looks/api/save-look'
import saveLooks from '#operations/product-page/looks/api/save-settings'
import { putCategories } from '#operations/store/ecommerce/sandbox-catalog'
import { type JsonSchema, publish } from '#runtime/documents/publish'
import { getIfMatchReaders } from '#runtime/gateway/if-match'
import type { Operation } from '#runtime/operation'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { testApp, wholeRegistry } from '#test/support/app'
import { picture } from '#test/support/demo-media'
import { everythingOn } from '#test/support/every-element'
import { post } from '#test/support/numbers'
import { connectedStore } from '#test/support/platform'
import { readRows, setRows } from '#test/support/rows'
import { visit } from '#test/support/storefront'
import { buildBody, buildPath, callsOf, pickBodyNames } from './demo.ts'
import { listFields, mergeInto } from './settings-fields.ts'
import { hiddenOf, named, scenesOf } from './settings-scenes.ts'

const { operations, sectionExtensions } = await wholeRegistry()
const app = await testApp({ storefrontReadsIp: 1_000_000 })
const now = app.clock.now()
// Orders and reviews are two hours old, so that a window of one hour leaves them out.
await app.advance(-2 * 3_600_000)
const shop = await connectedStore(app, { locale: 'pt-BR' })
const { send, allNamesOf, readNow } = callsOf(app, shop.id, shop.key, operations)

const getSection = (file: string): string => /\boperations\/([^/]+)/.exec(file)?.[1] ?? file.split('/')[0]!
const showing = new Set(
  sectionExtensions.flatMap(({ file, given }) => ('widgets' in given ? [getSection(file)] : [])),
)

/** Paths of writes that save no setting, each with the reason. */
const otherWrites: [path: RegExp, reason: string][] = [
  [/\/upload-|-upload-url$|\/header-media$/, 'A link to upload a file'],
  [/\/send-|\/dispatches\//, 'Sends messages, or stops them'],
  [/^\/messaging\/templates|^\/officialapi/, 'Messages to people and their connection'],
  [/^\/contact-form\/submissions/, 'What shoppers sent'],
  [/\/bulk-moderate$/, 'Moderates many reviews; one is walked'],
]
const writes = operations.filter(
  ({ file, spec }) =>
    !spec.readOnly && spec.input?.body && spec.answer.status === 200 && showing.has(getSection(file)),
)
const saves = writes.filter(({ spec }) => !otherWrites.some(([path]) => path.test(spec.path)))
const propertiesOf = ({ spec }: LoadedOperation) =>
  Object.entries((publish(spec.input!.body!).properties ?? {}) as Record<string, JsonSchema>)

/** The data of a shop's pages, and what their elements request. */
const views = [
  '/widgets?page=home&cards=1001,1003',
  '/widgets?page=product&productId=1001&cards=1002',
  '/widgets?page=product&productId=1003',
  '/widgets?page=category&cards=1001,1002,1003',
  '/widgets?page=cart',
  ...['/newsletter', '/contact-form', '/products/1001/reviews', '/fomo-feed'],
]

interface Seen {
  text: string
  tag: string | null
}
/** Null if nothing has changed since `before`. */
async function look(view: string, before?: Seen): Promise<Seen | null> {
  const headers = before?.tag ? { 'if-none-match': before.tag } : undefined
  const answer = await visit(shop, view, { headers })
  const cache = answer.headers.get('cache-control')!
  expect(Number(/max-age=(\d+)/.exec(cache)?.[1] ?? 0)).toBeLessThanOrEqual(60)
  expect(answer.headers.has('etag'), view).toBe(view.startsWith('/widgets'))
  if (answer.status === 304) return null
  // Each answer signs another token for its form.
  const { token: _, ...shown } = answer.body
  const text = `${cache} ${JSON.stringify(shown)}`
  return text === before?.text ? null : { text, tag: answer.headers.get('etag') }
}

/** The current values of the fields that an operation saves. */
async function readState(operation: LoadedOperation, names: Record<string, string>): Promise<State> {
  const own = pickBodyNames(operation, names)
  let read: State
  if (getIfMatchReaders(operations, operation).length > 0) {
    read = (await readNow(operation, names, buildBody(operation, {}, own))) as State
  } else {
    const { body } = await send('GET', operation.spec.path.replace(/\/(settings|reorder)$/, ''))
    const entries = body.data as { id: string }[]
    const ids = entries.map(({ id }) => id)
    read = { ...body.settings, ...entries.find(({ id }) => id === names.id), ids }
  }
  const saved = propertiesOf(operation).flatMap(([name, { readOnly }]) =>
    name in read && !readOnly ? [[name, read[name]]] : [],
  )
  return { ...Object.fromEntries(saved), ...own }
}
type State = Record<string, unknown>

beforeAll(async () => {
  await putCategories(
    shop.platform,
    ['301', '302'].map((id) => ({ id, name: `Categoria ${id}` })),
  )
  await everythingOn(app, shop)
  await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/2002/stock`, { stock: 1 })
  await setRows(shop, 'product_reviews', { images: JSON.stringify([{ id: 'one', url: picture('review') }]) })
  const make = async (operation: Operation, body: object): Promise<void> =>
    expect(await shop.call(operation, { body })).toMatchObject({ status: operation.spec.answer.status })
  // A second one of each, so that their order shows.
  await make(createSticker, { name: 'Outra', kind: 'text', text: 'Novo', position: 'top-left' })
  await make(createBadge, { name: 'Outro', text: 'Troca fácil', placement: 'below-title' })
  const items = ['1001', '1002'].map((productId) => ({ productId, hotspot: { x: 50, y: 50 } }))
  await make(saveLook, { name: 'Outro', imageUrl: picture('look'), items })
  const lookIds = (await readRows(shop, 'looks', ['id'])).map(({ id }) => id)
  const section = { key: 'novo', title: 'Novo', subtitle: null, lookIds, layout: 'grid', isEnabled: true }
  await make(saveLooks, { homeSections: [section] })
  await app.setClock(now)
  await app.drainJobs()
})

type View = readonly [path: string, seen: Seen]
const lookAtAll = (): Promise<View[]> =>
  Promise.all(views.map(async (view) => [view, (await look(view))!] as const))

async function showsChange(before: View[]): Promise<boolean> {
  for (const [at, [view, seen]] of before.entries()) {
    if (!(await look(view, seen))) continue
    // Most fields of an operation show in the same view, which is looked at first from now on.
    before.unshift(...before.splice(at, 1))
    return true
  }
  return false
}

const isWithin = (name: string, outer: string): boolean => name === outer || name.startsWith(`${outer}.`)

/** Changes one field at a time and looks at the pages; records in `fields` whether each has shown. */
async function walk(operation: LoadedOperation, path: string, state: unknown, fields: Map<string, boolean>) {
  const { id, spec } = operation
  const body = spec.input!.body!
  const save = async (value: unknown): Promise<number> =>
    body.safeParse(value).success ? (await send(spec.method, path, value)).status : 400
  // A conflict: it has that state already.
  expect(await save(state)).toBeOneOf([200, 409])
  const before = await lookAtAll()
  for (const { name, changed } of listFields(publish(body), state)) {
    const isHidden = hiddenOf(id).some((each) => isWithin(name, each))
    if (fields.get(name) || (isHidden && fields.has(name))) continue
    fields.set(name, false)
    let tries = isHidden ? 1 : 3
    for (const each of changed) {
      if ((await save(each)) !== 200) continue
      if (await showsChange(before)) fields.set(name, true)
      tries -= 1
      if (fields.get(name) || tries === 0) break
    }
  }
  await save(state)
  expect(await showsChange(before), 'saved as before').toBe(false)
}

const walked = new Map<string, number>()

describe('a changed setting shows on the next view', () => {
  const withFields = saves.filter((each) => propertiesOf(each).length > 0)
  test.each(withFields.map((each) => [each.id, each] as const))('%s', async (id, operation) => {
    const fields = new Map<string, boolean>()
    const types = new Set<string>()
    for (const names of await allNamesOf(operation)) {
      const state = await readState(operation, names)
      // Each type of content block has a design of its own; of anything else one is enough.
      const type = String(Object.keys((state.design as object) ?? {}))
      if (types.has(type)) continue
      types.add(type)
      for (const name of fields.keys()) if (name.startsWith('design.')) fields.delete(name)
      for (const name of Object.keys(names)) fields.set(name, true)
      for (const scene of scenesOf(id, state))
        await walk(operation, buildPath(operation.spec.path, names), mergeInto(state, scene), fields)
      const hidden = hiddenOf(id)
      const unseen = [...fields].flatMap(([name, isSeen]) => (isSeen ? [] : [name]))
      expect(unseen.filter((name) => !hidden.some((each) => isWithin(name, each)))).toEqual([])
      const stale = hidden.filter((each) => {
        const within = [...fields].filter(([name]) => isWithin(name, each))
        return within.length === 0 || within.some(([, isSeen]) => isSeen)
      })
      expect(stale, 'listed as hidden').toEqual([])
    }
    expect(fields.size).toBeGreaterThan(0)
    walked.set(id, fields.size)
  })

  test.each(saves.filter((each) => !withFields.includes(each)).map((each) => [each.id, each] as const))(
    '%s, which has no fields',
    async (_id, { spec }) => {
      const before = await lookAtAll()
      expect(await send(spec.method, spec.path, {})).toMatchObject({ status: 200 })
      expect(await showsChange(before)).toBe(true)
    },
  )

  test('over 35 operations with over 500 fields are walked', () => {
    expect(walked.size).toBeGreaterThan(35)
    expect([...walked.values()].reduce((sum, each) => sum + each)).toBeGreaterThan(500)
  })

  test('each exception is needed', () => {
    expect(named.filter((id) => !saves.some((each) => each.id === id))).toEqual([])
    expect(otherWrites.filter(([path]) => !writes.some(({ spec }) => path.test(spec.path)))).toEqual([])
  })

  test('a save that does not mark the storefront as changed would be found', async () => {
    const before = await lookAtAll()
    await setRows(shop, 'testimonials', { author_name: 'Outra pessoa' })
    expect(await showsChange(before)).toBe(false)
  })
})
