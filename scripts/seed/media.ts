/** Uploads of the demo's people: `media/<slug>/<purpose>/<name>`. Product pictures belong to the platform. */
import { readdir, readFile } from 'node:fs/promises'
import { parse } from 'node:path'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { idFromName } from '#runtime/values/ids'
import type { DemoStore } from './demo-store.ts'

const folder = new URL('./media/', import.meta.url)
const contentTypes: Record<string, string> = {
  '.png': 'image/png',
  '.webm': 'video/webm',
  '.amr': 'audio/amr',
  '.txt': 'text/plain',
}

/** Uploads the files and keeps them from deletion, even if no resource shows them. Call it outside a transaction. */
export async function seedMedia(ctx: Context, store: DemoStore): Promise<void> {
  const paths = await readdir(new URL(`${store.slug}/`, folder), { recursive: true })
  const stored = await Promise.all(
    paths.filter((path) => parse(path).ext !== '').map((path) => upload(ctx, store, path)),
  )
  await ctx.transaction((tx) => files.setUses(tx, 'demo-media', stored))
  const logo = store.names.get('media:logo')
  if (logo)
    await ctx.db
      .updateTable('stores')
      .set({ logo_url: String(logo) })
      .execute()
}

async function upload(ctx: Context, store: DemoStore, path: string) {
  const { dir: purpose, base: fileName, name, ext } = parse(path)
  const content = await readFile(new URL(`${store.slug}/${path}`, folder))
  const contentType = contentTypes[ext]!
  const { url, key } = await files.put(ctx, purpose, {
    id: idFromName(`${store.slug} upload ${name}`, store.timeline.ago(90).getTime()),
    fileName,
    contentType,
    visibility: purpose.startsWith('inbox') ? 'private' : 'public',
    content,
  })
  store.names.set(`media:${name}`, url)
  store.files.set(name, { key, url, fileName, contentType, size: content.length })
  return { url, purpose, field: name }
}

/** A photo as a phone sends it. */
export const photo = (): Promise<Buffer> => readFile(new URL('aurora-supply/inbox-image/foto.png', folder))

export function getUploadUrl({ names, slug }: Pick<DemoStore, 'names' | 'slug'>, name: string): string {
  const url = names.get(`media:${name}`)
  if (url === undefined) throw new Error(`${slug} has uploaded no ${name}`)
  return String(url)
}
