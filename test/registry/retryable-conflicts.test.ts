/**
 * A conflict that asks the caller to retry must not be stored as the answer of an Idempotency-Key: otherwise retries
 * would fail for a day.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const asksForRetry = /try again|wait until|at this moment|in a (minute|few|moment)/
const texts = /\b(refuse|refuseTemporarily|refuseDuplicate)\(\s*'[^']*',([^;]*?)\)\s*(?:;|\n|$)/g

test('every error that asks for a retry is temporary', () => {
  const [stored, temporary]: string[][] = [[], []]
  for (const file of globSync('operations/**/*.ts', { cwd: root })) {
    for (const [whole, by, said] of readFileSync(join(root, file), 'utf8').matchAll(texts)) {
      if (!asksForRetry.test(said!) || whole.includes("'unavailable'")) continue
      if (by === 'refuseTemporarily') temporary!.push(file)
      else stored!.push(`${file}: ${whole.replace(/\s+/g, ' ')}`)
    }
  }
  expect(stored).toEqual([])
  expect(temporary!.length).toBeGreaterThan(10)
})
