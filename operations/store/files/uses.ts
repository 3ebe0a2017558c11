/** Who uses which files: what nothing uses for 24 hours is deleted (`files-clean`). */
import type { Context, SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { type Look, namedIn } from '#runtime/references'
import type { z } from '#runtime/schema'
import { withoutEnd } from '#runtime/values/ends'

export interface FileUse {
  url: string
  /** That the file must have; null where one of any purpose will do. */
  purpose: string | null
  /** Named by a refusal: `imageUrl`, `images.2`. */
  field: string
}

/**
 * The files that an owner (`store:logo`, `review:<id>`) uses from now on, in the caller's transaction; those it used
 * before and no more are let go of. Addresses elsewhere are no files of ours and passed over. Refuses an address of
 * this server's that is no file of the store, has another purpose, was never uploaded or is past its date. Whether a
 * file was uploaded is asked of the storage once, at its first use. `kept`: what the owner named before, which may be
 * gone meanwhile. `told`: whatever else the owner says; addresses of files in its texts (a link of HTML, a picture of
 * CSS) are uses too, and never refused: text may say anything.
 */
export async function setUses(
  ctx: Context,
  ownedBy: string,
  uses: readonly FileUse[],
  kept: ReadonlySet<string> = new Set(),
  told: unknown = null,
): Promise<void> {
  // Its id may stand there as a caller spelled it: however it did, it is one owner.
  const owner = ownedBy.toLowerCase()
  const ours = uses.filter(({ url }) => ctx.adapters.storage.owns(url))
  const linked = addressesIn(ctx, told)
  const files = new Set<string>()
  const found = await findFiles(ctx, [...new Set([...ours.map((use) => use.url), ...linked])])
  for (const file of linked.flatMap((url) => found.get(url) ?? [])) if (!isOver(ctx, file)) files.add(file.id)
  for (const use of ours) {
    const file = found.get(use.url)
    if (kept.has(use.url) && (!file?.uploaded_at || isOver(ctx, file))) continue
    files.add(await usable(ctx, use, file))
  }
  const known = await ctx.db.selectFrom('file_uses').select('file_id').where('owner', '=', owner).execute()
  const before = new Set(known.map((row) => row.file_id))
  const now = ctx.now()
  const added = [...files].filter((id) => !before.has(id))
  if (added.length > 0) {
    await ctx.db
      .insertInto('file_uses')
      .values(added.map((id) => ({ file_id: id, owner, created_at: now })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  const gone = [...before].filter((id) => !files.has(id))
  if (gone.length === 0) return
  await ctx.db.deleteFrom('file_uses').where('owner', '=', owner).where('file_id', 'in', gone).execute()
  // The 24 hours count from here.
  await ctx.db.updateTable('files').set({ updated_at: now }).where('id', 'in', gone).execute()
}

/**
 * As `setUses`, of all that the fields marked `file` in a schema name and all that its texts link to: what a resource
 * says is what it keeps. `before`
 * is the resource as it was. `also`: what has no mark, such as pictures of a text of HTML.
 */
export function keepNamed(
  ctx: Context,
  owner: string,
  schema: z.ZodTypeAny,
  {
    before,
    after,
    also = [],
  }: { before: unknown; after: unknown; also?: readonly Pick<FileUse, 'url' | 'field'>[] },
): Promise<void> {
  const filesIn = (value: unknown): FileUse[] =>
    namedIn(schema, value).flatMap(({ kind, field, value: url }) =>
      kind === 'file' ? [{ url: String(url), purpose: null, field }] : [],
    )
  const uses = [...filesIn(after), ...also.map((use) => ({ ...use, purpose: null }))]
  return setUses(ctx, owner, uses, new Set(filesIn(before).map(({ url }) => url)), after)
}

/** As `setUses`, of a resource that names no files, only links to them: a bar whose link is a price list. */
export const keepLinked = (ctx: Context, owner: string, after: unknown): Promise<void> =>
  setUses(ctx, owner, [], undefined, after)

/** The addresses of our storage in all texts of a value, as they are kept: without what follows the path. */
function addressesIn(ctx: Context, value: unknown): string[] {
  const found = new Set<string>()
  const read = (each: unknown): void => {
    if (typeof each === 'string') {
      for (const [address] of each.matchAll(/https?:\/\/[^\s"'<>()\\]+/gi)) {
        // The full stop after an address ends the sentence, not the address.
        const url = URL.parse(withoutEnd(address, endsSentence))
        if (url && ctx.adapters.storage.owns(url.href)) found.add(url.origin + url.pathname)
      }
    } else if (typeof each === 'object' && each !== null) Object.values(each).forEach(read)
  }
  read(value)
  return [...found].slice(0, addressesAtMost)
}
const endsSentence = (sign: string): boolean => '.,;:!?]}*_'.includes(sign)
const addressesAtMost = 500

/** As `setUses` of nothing, of owners of any store. */
export async function letGo(
  ctx: SystemContext,
  owners: readonly { storeId: string; owner: string }[],
): Promise<void> {
  for (const { storeId, owner } of owners) {
    const gone = ctx.root
      .deleteFrom('file_uses')
      .where('store_id', '=', storeId)
      .where('owner', '=', owner)
      .returning('file_id')
    await ctx.root
      .with('gone', () => gone)
      .updateTable('files')
      .set({ updated_at: ctx.now() })
      .where('store_id', '=', storeId)
      .where('id', 'in', (eb) => eb.selectFrom('gone').select('file_id'))
      .execute()
  }
}

const isOver = (ctx: Context, file: Pick<Found, 'expires_at'>): boolean =>
  file.expires_at !== null && file.expires_at <= ctx.now()

interface Found {
  id: string
  key: string
  purpose: string
  content_type: string
  size: number
  uploaded_at: Date | null
  expires_at: Date | null
}

/** Locked against `files-clean` until the transaction ends. */
async function findFiles(ctx: Context, urls: string[]): Promise<Map<string, Found>> {
  if (urls.length === 0) return new Map()
  const rows = await ctx.db
    .selectFrom('files')
    .select(['id', 'key', 'url', 'purpose', 'content_type', 'size', 'uploaded_at', 'expires_at'])
    .where('url', 'in', urls)
    .orderBy('id')
    .forKeyShare()
    .execute()
  return new Map(rows.map((row) => [row.url, row]))
}

/** The file's id; refuses one that cannot be used. */
async function usable(ctx: Context, use: FileUse, file: Found | undefined): Promise<string> {
  const fault = await faultOf(ctx, use.purpose, file)
  if (fault) throw refuse('bad_request', `${use.field}: ${fault}`)
  return file!.id
}

/** Why a file cannot be used, in words that follow the name of a field. */
async function faultOf(
  ctx: Context,
  purpose: string | null,
  file: Found | undefined,
): Promise<string | null> {
  if (!file) return 'is no file of this store'
  if (purpose !== null && file.purpose !== purpose) return 'was uploaded for something else'
  if (isOver(ctx, file)) return 'is not kept any more: upload it again'
  if (file.uploaded_at) return null
  const stored = await ctx.adapters.storage.head(file.key)
  if (!stored || stored.size !== file.size) return 'was never uploaded: upload it first'
  await ctx.db.updateTable('files').set({ uploaded_at: ctx.now() }).where('id', '=', file.id).execute()
  return null
}

/**
 * Files as a body names them: https addresses anywhere, and finished uploads of this store. What is no address at all
 * (the name of an icon, say) is its schema's business. Asks the storage: not inside a transaction.
 */
export const lookForFiles: Look = async (ctx, values) => {
  const faults = new Map<string, string>()
  const { storage } = ctx.adapters
  for (const url of values.map(String)) {
    if (storage.owns(url)) {
      const file = await ctx.db
        .selectFrom('files')
        .select(['id', 'key', 'purpose', 'content_type', 'size', 'uploaded_at', 'expires_at'])
        .where('url', '=', url)
        .executeTakeFirst()
      const fault = await faultOf(ctx, null, file)
      if (fault) faults.set(url, fault)
    } else if (url.includes('://') && !isHttps(url)) {
      faults.set(url, 'must be an https address or the fileUrl of an upload')
    }
  }
  return (named) => named.map((url) => faults.get(String(url))).find((fault) => fault !== undefined) ?? null
}

/** Refuses, before anything else is done, what `keepNamed` would: files of ours that `before` did not name. */
export async function requireNamed(
  ctx: Context,
  schema: z.ZodTypeAny,
  { before, after }: { before: unknown; after: unknown },
): Promise<void> {
  const known = new Set(namedIn(schema, before).map(({ value }) => value))
  for (const { kind, field, value } of namedIn(schema, after)) {
    const url = String(value)
    if (kind !== 'file' || known.has(value) || !ctx.adapters.storage.owns(url)) continue
    await requireUploaded(ctx, null, url, field)
  }
}

const isHttps = (url: string): boolean =>
  url.length <= 2000 && !/\s/.test(url) && URL.canParse(url) && new URL(url).protocol === 'https:'

/**
 * Makes sure that a file of this store and purpose was uploaded; answers its content type. Asks the storage, so not
 * inside a transaction. Refuses an address that is none of such a file, by the name of its `field`.
 */
export async function requireUploaded(
  ctx: Context,
  purpose: string | null,
  url: string,
  field: string,
): Promise<{ contentType: string }> {
  const file = await ctx.db
    .selectFrom('files')
    .select(['id', 'key', 'purpose', 'content_type', 'size', 'uploaded_at', 'expires_at'])
    .where('url', '=', url)
    .executeTakeFirst()
  await usable(ctx, { url, purpose, field }, file)
  return { contentType: file!.content_type }
}
