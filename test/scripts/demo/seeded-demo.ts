/** A seeded demo, shared by the tests of its sections. */
import { expect } from 'vitest'
import { type Demo, seedDemo } from '#scripts/seed/demo'
import type { TestApp } from '#test/support/app'

export interface Seeded {
  app: TestApp
  demo: Demo
  /** A single row; `$aurora` is replaced by the id of Aurora Supply. */
  one<T>(text: string): Promise<T>
  /** The answer of a path below `/v1` to the owner of a store. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  read(slug: string, path: string): Promise<any>
  /** The base of all instants of the demo. */
  at(): Promise<Date>
}

/** Creates keys on first use, because a later run of the seed revokes earlier ones. */
export function seeded(app: TestApp, demo: Demo): Seeded {
  let keys: Demo['keys'] | null = null
  const keyOf = async (slug: string): Promise<string> => {
    keys ??= (await seedDemo(app.services)).keys
    return keys.find((each) => each.store === slug && each.scopes.length > 1)!.key
  }
  const one = async <T>(text: string): Promise<T> => {
    const aurora = `(select id from stores where slug = 'aurora-supply')`
    const rows = await app.database.query<T & object>(text.replaceAll('$aurora', aurora), [])
    return rows[0] as T
  }
  return {
    app,
    demo,
    one,
    async read(slug, path) {
      const headers = { authorization: `Bearer ${await keyOf(slug)}` }
      const request = new Request(`http://localhost/v1${path}`, { headers })
      const response = await app.fetch(request, { ip: '127.0.0.1' })
      expect(response.status, path).toBe(200)
      return response.json()
    },
    async at() {
      const marker = await one<{ at: string }>(
        `select value::jsonb->>'at' as at from server_settings where name = 'demo'`,
      )
      return new Date(marker.at)
    },
  }
}
