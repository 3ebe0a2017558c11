/** Every field of a body whose name says that it names something says of what kind, or stands here with its reason. */
import { expect, test } from 'vitest'
import { innerOf, namedIn, reference, referenceOf } from '#runtime/references'
import { loadRegistry } from '#runtime/registry/registry'
import { ignoredKeys, z } from '#runtime/schema'

const registry = await loadRegistry()

/**
 * Fields that carry no mark: those that name no thing, and those that their own operation looks for in the statement
 * that writes. A pattern of `METHOD /path field`, and why.
 */
const others: readonly [RegExp, string][] = [
  [/ flow\.steps\.id$| \/automations\/:id\/test stepId$/, 'a step of the flow itself'],
  [/ roulette\.prizes\.id$|settings\.roulette\.prizes\.id$/, 'a prize of the popup itself'],
  [/ (linkUrl|announcements\.linkUrl|returnUrl|labelUrl)$/, 'an address anywhere: nothing of ours'],
  [/^PATCH \/store logoUrl$/, 'looked for where it is another than the stored one'],
  [/ clientId$/, 'the caller makes it up'],
  [/^POST \/officialapi\/confirm-redirect (number|account)Id$/, "the messaging provider's, which is asked"],
  [/^POST \/mailprovider\/sync-contacts listId$/, 'a list of the email provider, which is asked'],
  [/^(PUT|PATCH|POST) \S+ id$/, 'the resource itself: 404, as in a path'],
  [/ ids$/, 'the rows themselves: each has its own answer'],
  [/\/product-exchanges\/requests\/:id\/\w+ (items\.id|exchangeOrderId)$/, 'of the request and its platform'],
  [/^POST \/subscription\/\S+ planId$/, 'a plan of the catalog of plans, refused by its operation'],
  [
    /^POST \/inbox\/conversations\/:id\/\S+ \w+Id$/,
    'of the conversation: 404 by its page, in the same statement',
  ],
]

interface Field {
  path: string
  kind: string | undefined
}

function fieldsOf(schema: z.ZodTypeAny, path: string): Field[] {
  const kind = referenceOf(schema)
  if (kind !== undefined) return [{ path, kind }]
  const inner = innerOf(schema)
  if (inner) return fieldsOf(inner, path)
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  if (schema instanceof z.ZodArray) return fieldsOf(schema.element, path)
  if (schema instanceof z.ZodRecord) return fieldsOf(schema.element, at('*'))
  if (schema instanceof z.ZodDiscriminatedUnion || schema instanceof z.ZodUnion) {
    return (schema.options as z.ZodTypeAny[]).flatMap((option) => fieldsOf(option, path))
  }
  if (!(schema instanceof z.ZodObject)) return [{ path, kind }]
  const ignored = ignoredKeys(schema)
  return Object.entries(schema.shape as z.ZodRawShape).flatMap(([name, field]) =>
    ignored.has(name) ? [] : fieldsOf(field, at(name)),
  )
}

const isNaming = (path: string): boolean => /(^|\.)(id|ids|[a-z]\w*(Ids?|Urls?)|logo)$/.test(path)

const unmarked = registry.operations.flatMap(({ spec }) =>
  fieldsOf(spec.input?.body ?? z.object({}), '')
    .filter(({ path, kind }) => kind === undefined && isNaming(path))
    .map(({ path }) => `${spec.method} ${spec.path} ${path}`),
)

test('a field that names something has a mark, or a reason', () => {
  expect(unmarked.filter((field) => !others.some(([pattern]) => pattern.test(field)))).toEqual([])
})

test.each(others)('%s stands for a field that is still there', (pattern) => {
  expect(unmarked.some((field) => pattern.test(field))).toBe(true)
})

test('a mark outlives what is made of a schema, and is found at every depth', () => {
  const product = reference('product', z.string().min(1))
  const schema = z.object({
    excludedIds: z.array(product).describe('Never these'),
    item: z.object({ id: product.max(9).nullable().describe('One') }).partial(),
    step: z.discriminatedUnion('type', [
      z.object({ type: z.literal('wait') }),
      z.object({ type: z.literal('show'), file: reference('file', z.string()).default('f') }),
    ]),
  })
  const value = { excludedIds: ['1', '2'], item: { id: '3' }, step: { type: 'show', file: 'a' } }
  expect(namedIn(schema, value)).toEqual([
    { kind: 'product', field: 'excludedIds', value: '1' },
    { kind: 'product', field: 'excludedIds', value: '2' },
    { kind: 'product', field: 'item.id', value: '3' },
    { kind: 'file', field: 'step.file', value: 'a' },
  ])
  expect(namedIn(schema, { excludedIds: [], item: { id: null }, step: { type: 'wait' } })).toEqual([])
})
