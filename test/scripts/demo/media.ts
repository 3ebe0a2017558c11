/** Pictures and videos of the demo: each one named by a row or a widget exists. */
import { expect, test } from 'vitest'
import type { TestApp } from '#test/support/app'
import { visit } from '#test/support/storefront'
import type { Seeded } from './seeded-demo.ts'

const address = /https?:\/\/[^\s"'\\(),<>]+?\.(?:svg|png|jpe?g|webp|gif|avif|mp4|webm)(?![a-z0-9])/g

/** Private files are readable only by signed links, so they are looked up in storage. */
async function headFile(app: TestApp, url: string): Promise<{ status: number; type: string; size: number }> {
  const response = await app.fetch(new Request(url), { ip: '127.0.0.1' })
  const { byteLength } = await response.arrayBuffer()
  const type = response.headers.get('content-type') ?? ''
  if (response.status !== 403) return { status: response.status, type, size: byteLength }
  const key = decodeURIComponent(new URL(url).pathname.replace('/files/', ''))
  const kept = await app.services.adapters.storage.head(key)
  return kept ? { status: 200, type: kept.contentType, size: kept.size } : { status: 404, type, size: 0 }
}

export function mediaTests({ app, demo }: Seeded): void {
  test('every picture and video named by rows or widgets exists, wherever it is stored', async () => {
    const tables = await app.database.query<{ name: string }>(
      `select quote_ident(relname) as name from pg_class
       where relkind = 'r' and relnamespace = 'public'::regnamespace`,
      [],
    )
    const named = new Map<string, string>()
    for (const { name } of tables) {
      const rows = await app.database.query<{ url: string }>(
        `select distinct (regexp_matches(t::text, $1, 'g'))[1] as url from ${name} t`,
        [`(${address.source})`],
      )
      for (const { url } of rows) named.set(url, name)
    }
    const { publicId } = demo.stores.find((each) => each.slug === 'aurora-supply')!
    const cards = Array.from({ length: 40 }, (_none, at) => 1001 + at).join(',')
    const paths = ['page=home', `page=category&cards=${cards}`, 'page=cart']
    const products = cards.split(',').map((id) => `page=product&productId=${id}`)
    for (const path of [...paths, ...products]) {
      const { text } = await visit({ app, publicId }, `/widgets?${path}`)
      for (const [url] of text.matchAll(address)) named.set(url, path)
    }
    expect(named.size).toBeGreaterThan(100)
    const faults: string[] = []
    const types = new Set<string>()
    for (const [url, at] of named) {
      const { status, type, size } = await headFile(app, url)
      const isMedia = type.startsWith(/\.(mp4|webm)$/.test(url) ? 'video/' : 'image/')
      const isOurs = url.startsWith(app.services.settings.publicUrl)
      if (!isOurs || status !== 200 || !isMedia || size < 60) faults.push(`${at}: ${url}: ${status} ${type}`)
      types.add(type.split(';')[0]!)
    }
    expect(faults).toEqual([])
    expect([...types].sort()).toEqual(['image/png', 'image/svg+xml', 'video/webm'])
  })
}
