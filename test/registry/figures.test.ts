/** A figure that another operation counts by another rule says what it counts: merchants compare them. */
import { expect, test } from 'vitest'
import { type JsonSchema, publish } from '#runtime/documents/publish'

import { wholeRegistry } from '#test/support/app'

const { operations } = await wholeRegistry()
const compared =
  /^(?:(?:total|recovered)?(?:orders|revenue)|convers(?:ions|ed)|converted|totalSpent|purchaseCount)$/i
/** What every amount says of itself. */
const ofAmounts = 'Whole currency units, at most two decimals'
/** Parts of what stands beside them. */
const parts = /^(?:by[A-Z].*|bySource|series|data)$/

function silentIn(schema: JsonSchema, path = ''): string[] {
  return Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).flatMap(([name, part]) => {
    if (parts.test(name) || (part.description && part.description !== ofAmounts)) return []
    const own = compared.test(name) && /integer|number/.test(String(part.type)) ? [`${path}${name}`] : []
    return [...own, ...silentIn(part, `${path}${name}.`)]
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
  '%s says of its figures what they count',
  (_id, { answer }) => {
    expect(silentIn(publish(answer.body!))).toEqual([])
  },
)
