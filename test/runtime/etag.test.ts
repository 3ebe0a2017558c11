import fc from 'fast-check'
import { expect, test } from 'vitest'
import { etagOf, identityOfTag, isNamedBy, tagsOf, withoutMoves } from '#runtime/gateway/etag'
import { runs } from '#test/support/suite'

/** As PostgreSQL writes JSON, with spaces, and as JavaScript does. */
const spaced = (value: unknown): string => JSON.stringify(value, null, 1)
const names = ['size', 'status', 'a"b', 'a\\\\', '', 'x,y', '{}', 'é']
const resource = fc.dictionary(fc.constantFrom(...names), fc.jsonValue(), { maxKeys: 8 })

test('two resources are the same without what moves exactly where what is left of them is', () => {
  fc.assert(
    fc.property(
      resource,
      resource,
      fc.subarray(names.slice(0, 2), { minLength: 1 }),
      fc.constantFrom(JSON.stringify, spaced),
      (one, other, moves, write) => {
        const rest = (value: Record<string, unknown>) =>
          JSON.stringify(Object.entries(value).filter(([name]) => !moves.includes(name)))
        const known = (value: Record<string, unknown>) => withoutMoves(write(value), moves)
        expect(known(one) === known(other)).toBe(rest(one) === rest(other))
        const moved = {
          ...one,
          ...Object.fromEntries(
            Object.keys(one)
              .filter((name) => moves.includes(name))
              .map((name) => [name, other]),
          ),
        }
        expect(known(moved)).toBe(known(one))
      },
    ),
    { ...runs(2000), examples: [[{ 'x,y': {}, size: [] }, { 'x,y': {} }, ['size'], spaced]] },
  )
})

test('fields deeper down are left out of each of a list', () => {
  const tiers = (contactCount: number) => ({
    tiers: [
      { name: 'gold', contactCount },
      { name: 'silver', contactCount },
    ],
  })
  const left = (value: object) => withoutMoves(JSON.stringify(value), ['tiers.contactCount'])
  expect(left(tiers(1))).toBe(left(tiers(2)))
  expect(left(tiers(1))).not.toBe(left({ tiers: [{ name: 'gold', contactCount: 1 }] }))
})

test('a tag is another for every other body, and its first half for every other identity', () => {
  const text = fc.constantFrom('', 'a', 'b', '{"size":1}')
  fc.assert(
    fc.property(text, text, text, text, (body, identity, otherBody, otherIdentity) => {
      const [one, other] = [etagOf(body, identity), etagOf(otherBody, otherIdentity)]
      // Between one state of a resource and another, whatever its identity is made of is in its body.
      fc.pre(identity === otherIdentity || body !== otherBody)
      fc.pre((identity === body) === (otherIdentity === otherBody))
      expect(isNamedBy(one, other)).toBe(body === otherBody)
      expect(identityOfTag(one) === identityOfTag(other)).toBe(identity === otherIdentity)
    }),
    runs(2000),
  )
  expect(identityOfTag('"given-out_before"')).toBe('"given-out_before"')
})

test('a tag that a proxy marked as it packed the answer names what it named', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.constantFrom(...packings), (body, identity, packed) => {
      const tag = etagOf(body, identity)
      expect(isNamedBy(`"other", ${packed(tag)}`, tag)).toBe(true)
      expect(tagsOf(packed(tag)).map(identityOfTag)).toContain(identityOfTag(tag))
      expect(isNamedBy(packed(etagOf(`${body}.`, identity)), tag)).toBe(false)
    }),
  )
  // The digest of one body in 260,000 ends like that by itself.
  const chance = '"0123456789abcdef-br"'
  expect(isNamedBy(chance, chance)).toBe(true)
})

/** nginx, HAProxy and Cloudflare; Apache and Caddy; Jetty. */
const packings = [
  (tag: string) => tag,
  (tag: string) => `W/${tag}`,
  ...['-gzip', '-br', '-zstd', '-deflate', '--gzip'].map(
    (mark) => (tag: string) => tag.replace(/"$/, `${mark}"`),
  ),
]
