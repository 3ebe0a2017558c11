/** The document allows what the server accepts: inputs are generated from the published schemas and compared. */
import { describe, expect, test } from 'vitest'
import { freeObject, type z } from '#runtime/schema'
import { isFullSuite } from '#test/support/suite'
import { document, findOperation, registry, resolveReference } from './document.ts'
import { compareInputs } from './published-inputs.ts'
import { sampleOperations } from './sample-operations.ts'

/** The rules that JSON Schema cannot express, by the server's refusal, each with the reason. */
const exceptions: [refusal: RegExp, reason: string][] = [
  [/must have at most (?:two|four) decimals/, 'multipleOf 0.01 fails on many numbers with two decimals'],
  [/must be a country such as|must be a currency that exists/, 'The lists change with ISO 3166 and 4217'],
  [/is no time zone|is no language tag/, 'The lists change with the time zone database and BCP 47'],
  [/of the calendar/, 'A pattern does not know the lengths of months'],
  [/must be digits of a phone/, 'Digits of any script, within links and chat ids'],
  [/must be a whole number|must be an amount/, 'Ajv reads a blank parameter as 0'],
  [/characters as a caption$/, 'The caption of a file is shorter than a text'],
  [/^type: is required$/, 'Unless a quick reply is named'],
  [
    /does not go with|is required with|cannot be combined with|must not be more than|comes from the|goes without/,
    'Two fields',
  ],
]
const isExcepted = (refusal: string): boolean =>
  refusal.split('; ').every((each) => exceptions.some(([rule]) => rule.test(each)))

describe('published inputs', () => {
  test('the server accepts what the document allows, and refuses what it forbids', () => {
    const { differences, count } = compareInputs(registry.operations, document, isFullSuite ? 12 : 1)
    expect(count.valid).toBeGreaterThan(count.generated * 0.9)
    expect(count.compared).toBeGreaterThan(50_000)
    const unexplained = differences.filter(({ refusal }) => refusal === null || !isExcepted(refusal))
    expect(unexplained.slice(0, 20)).toEqual([])
    if (!isFullSuite) return
    const unused = exceptions.filter(([rule]) => !differences.some(({ refusal }) => rule.test(refusal ?? '')))
    expect(unused).toEqual([])
  })

  test('an unpublished rule and an unpublished tolerance are found', () => {
    const gadgets = sampleOperations.find(({ id }) => id === 'post_gadgets')!
    const listRefusals = (body: z.ZodTypeAny) => {
      const changed = { ...gadgets, spec: { ...gadgets.spec, input: { body } } }
      const { differences } = compareInputs([changed], document, 0)
      return new Set(differences.map(({ refusal }) => refusal === null))
    }
    const { body } = gadgets.spec.input!
    expect(listRefusals(body!.refine(({ name }) => name.length > 9))).toContain(false)
    expect(listRefusals(freeObject)).toEqual(new Set([true]))
  })

  test('every parameter is described', () => {
    const missing = registry.operations
      .filter((each) => !sampleOperations.includes(each))
      .flatMap(({ id }) =>
        (findOperation(id).parameters ?? []).map((each) => [id, resolveReference(each)] as const),
      )
      .filter(([, { description }]) => !description)
      .map(([id, { name }]) => `${id} ${name}`)
    expect(missing).toEqual([])
  })
})
