/** Every body field that looks like a reference has an annotation, or is exempt here with a reason. */
import { expect, test } from 'vitest'
import { findReferences, getReferenceKind, reference, unwrapSchema } from '#runtime/references'
import { loadRegistry } from '#runtime/registry/registry'
import { ignoredKeys, z } from '#runtime/schema'

const registry = await loadRegistry()

/**
 * Exempt fields: those that reference nothing, and those that their operation checks in the writing statement.
 * Pattern of `METHOD /path field`, and the reason.
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

function listFields(schema: z.ZodTypeAny, path: string): Field[] {
  const kind = getReferenceKind(schema)
  if (kind !== undefined) return [{ path, kind }]
  const inner = unwrapSchema(schema)
  if (inner) return listFields(inner, path)
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  if (schema instanceof z.ZodArray) return listFields(schema.element, path)
  if (schema instanceof z.ZodRecord) return listFields(schema.element, at('*'))
  if (schema instanceof z.ZodDiscriminatedUnion || schema instanceof z.ZodUnion) {
    return (schema.options as z.ZodTypeAny[]).flatMap((option) => listFields(option, path))
  }
  if (!(schema instanceof z.ZodObject)) return [{ path, kind }]
  const ignored = ignoredKeys(schema)
  return Object.entries(schema.shape as z.ZodRawShape).flatMap(([name, field]) =>
    ignored.has(name) ? [] : listFields(field, at(name)),
  )
}

const isNaming = (path: string): boolean => /(^|\.)(id|ids|[a-z]\w*(Ids?|Urls?)|logo)$/.test(path)

const unmarked = registry.operations.flatMap(({ spec }) =>
  listFields(spec.input?.body ?? z.object({}), '')
    .filter(({ path, kind }) => kind === undefined && isNaming(path))
    .map(({ path }) => `${spec.method} ${spec.path} ${path}`),
)

test('a reference field has an annotation or a reason', () => {
  expect(unmarked.filter((field) => !others.some(([pattern]) => pattern.test(field)))).toEqual([])
})

test.each(others)('the exemption %s matches an existing field', (pattern) => {
  expect(unmarked.some((field) => pattern.test(field))).toBe(true)
})

test('an annotation survives schema derivation and is found at every depth', () => {
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
  expect(findReferences(schema, value)).toEqual([
    { kind: 'product', field: 'excludedIds', value: '1' },
    { kind: 'product', field: 'excludedIds', value: '2' },
    { kind: 'product', field: 'item.id', value: '3' },
    { kind: 'file', field: 'step.file', value: 'a' },
  ])
  expect(findReferences(schema, { excludedIds: [], item: { id: null }, step: { type: 'wait' } })).toEqual([])
})
