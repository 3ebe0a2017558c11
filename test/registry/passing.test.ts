/** A conflict that tells its caller to come again as they are answers for no Idempotency-Key, or they come in vain for a day. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const comeAgain = /try again|wait until|at this moment|in a (minute|few|moment)/
const texts = /\b(refuse|refuseForNow|unlessTaken)\(\s*'[^']*',([^;]*?)\)\s*(?:;|\n|$)/g

test('whatever says to come again is refused for now', () => {
  const [kept, passing]: string[][] = [[], []]
  for (const file of globSync('operations/**/*.ts', { cwd: root })) {
    for (const [whole, by, said] of readFileSync(join(root, file), 'utf8').matchAll(texts)) {
      if (!comeAgain.test(said!) || whole.includes("'unavailable'")) continue
      if (by === 'refuseForNow') passing!.push(file)
      else kept!.push(`${file}: ${whole.replace(/\s+/g, ' ')}`)
    }
  }
  expect(kept).toEqual([])
  expect(passing!.length).toBeGreaterThan(10)
})
