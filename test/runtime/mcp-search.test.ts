/** Questions as merchants ask them: one of the right operations is among the first five. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { nearestIds, OperationSearch } from '#runtime/mcp/search'
import { loadRegistry } from '#runtime/registry/registry'

type Question = [text: string, ids: string[]]
const questionsIn = (file: string): Question[] =>
  JSON.parse(readFileSync(new URL(`./${file}.json`, import.meta.url), 'utf8'))
const questions = questionsIn('questions')
const registry = await loadRegistry()
const search = OperationSearch.of(registry)
const all = new Set(registry.operations)
const first = (question: string, count = 5) =>
  search
    .find(question, all)
    .slice(0, count)
    .map(({ id }) => id)

describe('a merchant’s words', () => {
  test('there are at least 60 questions, about operations that exist', () => {
    expect(questions.length).toBeGreaterThanOrEqual(60)
    expect(questions.flatMap(([, ids]) => ids).filter((id) => !registry.byId(id))).toEqual([])
  })

  test.each(questions)('%s', (question, ids) => {
    const found = first(question)
    expect(
      ids.some((id) => found.includes(id)),
      found.join(' '),
    ).toBe(true)
  })

  test.each(['questions-pt', 'questions-es'])('%s: nine of ten are found among the first five', (file) => {
    const asked = questionsIn(file)
    expect(asked.length).toBeGreaterThanOrEqual(60)
    expect(asked.flatMap(([, ids]) => ids).filter((id) => !registry.byId(id))).toEqual([])
    const missed = asked.filter(([text, ids]) => !ids.some((id) => first(text).includes(id)))
    expect(missed.length, missed.map(([text]) => text).join('\n')).toBeLessThanOrEqual(asked.length / 10)
  })

  test('four of five are the very first', () => {
    const firsts = questions.filter(([text, ids]) => ids.includes(first(text, 1)[0]!))
    expect(firsts.length).toBeGreaterThanOrEqual(questions.length * 0.8)
  })

  test('what is called as asked comes before what undoes it', () => {
    expect(first('pause my campaign')[0]).toBe('post_campaigns_by_id_pause')
    expect(first('resume my campaign')[0]).toBe('post_campaigns_by_id_resume')
    expect(first('pausar minha campanha')[0]).toBe('post_campaigns_by_id_pause')
    expect(first('reanudar mi campaña')[0]).toBe('post_campaigns_by_id_resume')
  })

  test('what means nothing finds nothing', () => {
    expect(first('xyzzy plugh')).toEqual([])
    expect(first('the of and')).toEqual([])
  })
})

test('an id that is nearly one names its likes', () => {
  expect(nearestIds(registry, 'get_campaign_list')).toContain('get_campaigns_lists')
  expect(nearestIds(registry, '')).toHaveLength(3)
})
