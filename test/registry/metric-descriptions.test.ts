/** Metrics that several operations count by different rules must describe what they count: merchants compare them. */
import { expect, test } from 'vitest'
import { type JsonSchema, publish } from '#runtime/documents/publish'

import { wholeRegistry } from '#test/support/app'

const { operations } = await wholeRegistry()
const compared =
  /^(?:(?:total|recovered)?(?:orders|revenue)|convers(?:ions|ed)|converted|totalSpent|purchaseCount)$/i
/** The generic description of amounts. */
const amountDescription = 'Whole currency units, at most two decimals'
/** Breakdowns of metrics that are described at the top level. */
const parts = /^(?:by[A-Z].*|bySource|series|data)$/

function findUndescribed(schema: JsonSchema, path = ''): string[] {
  return Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).flatMap(([name, part]) => {
    if (parts.test(name) || (part.description && part.description !== amountDescription)) return []
    const own = compared.test(name) && /integer|number/.test(String(part.type)) ? [`${path}${name}`] : []
    return [...own, ...findUndescribed(part, `${path}${name}.`)]
  })
}

const ranged = operations.filter(
  ({ spec }) =>
    spec.readOnly &&
    spec.answer.body &&
    spec.input?.query &&
    Object.hasOwn(publish(spec.input.query).properties ?? {}, 'startDate'),
)

test('there are many', () => expect(ranged.length).toBeGreaterThan(15))

test.each(ranged.map(({ id, spec }) => [id, spec] as const))(
  '%s describes what its metrics count',
  (_id, { answer }) => {
    expect(findUndescribed(publish(answer.body!))).toEqual([])
  },
)
