/** Records which owners (resources of a store) use which files: `files-clean` deletes a file unused for 24 hours. */
import type { Context, SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { findReferences, type ReferenceLookup } from '#runtime/references'
import type { z } from '#runtime/schema'
import { findFileUrls } from './links.ts'

export interface FileUse {
  url: string
  /** The purpose that the file must have; null: any. */
  purpose: string | null
  /** Name of the field for error messages, such as `imageUrl` or `images.2`. */
  field: string
}

/**
 * Replaces the files used by an owner (`store:logo`, `review:<id>`), in the caller's transaction. Ignores URLs outside our
 * storage. Refuses a URL of our storage that is no file of the store, has another purpose, was never uploaded or has
 * expired. Asks the storage only at a file's first use. `previousUrls`: URLs that the owner used before, which are not
 * refused if the file is gone. `texts`: any value; file URLs in its strings (HTML links, CSS images) count as uses too, and
 * are never refused.
 */
export async function setUses(
  ctx: Context,
  ownedBy: string,
  uses: readonly FileUse[],
  previousUrls: ReadonlySet<string> = new Set(),
  texts: unknown = null,
): Promise<void> {
  // `ownedBy` contains a UUID, which callers may spell in upper or lower case.
  const owner = ownedBy.toLowerCase()
  const ownUses = uses.filter(({ url }) => ctx.adapters.storage.owns(url))
  const linked = findFileUrls(ctx, texts)
  const files = new Set<string>()
  const found = await findFiles(ctx, [...new Set([...ownUses.map((use) => use.url), ...linked])])
  for (const file of linked.flatMap((url) => found.get(url) ?? []))
    if (!isExpired(ctx, file)) files.add(file.id)
  for (const use of ownUses) {
    const file = found.get(use.url)
    if (previousUrls.has(use.url) && (!file?.uploaded_at || isExpired(ctx, file))) continue
    files.add(await requireUsable(ctx, use, file))
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
  const removed = [...before].filter((id) => !files.has(id))
  if (removed.length === 0) return
  await ctx.db.deleteFrom('file_uses').where('owner', '=', owner).where('file_id', 'in', removed).execute()
  // The 24 hours until `files-clean` deletes the files count from `updated_at`.
  await ctx.db.updateTable('files').set({ updated_at: now }).where('id', 'in', removed).execute()
}

/**
 * Like `setUses`, but for a whole resource: all its fields that the schema marks as `file`, and all file URLs in its texts.
 * `before`: the resource before the change. `also`: further files without a marked field, such as images of an HTML text.
 */
export function trackFiles(
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
    findReferences(schema, value).flatMap(({ kind, field, value: url }) =>
      kind === 'file' ? [{ url: String(url), purpose: null, field }] : [],
    )
  const uses = [...filesIn(after), ...also.map((use) => ({ ...use, purpose: null }))]
  return setUses(ctx, owner, uses, new Set(filesIn(before).map(({ url }) => url)), after)
}

/** Like `setUses`, but for a resource that only links to files in texts, for example a bar that links to a price list. */
export const trackLinkedFiles = (ctx: Context, owner: string, after: unknown): Promise<void> =>
  setUses(ctx, owner, [], undefined, after)

/** Removes all uses by these owners, which may be of several stores. */
export async function releaseUses(
  ctx: SystemContext,
  owners: readonly { storeId: string; owner: string }[],
): Promise<void> {
  for (const { storeId, owner } of owners) {
    const removed = ctx.root
      .deleteFrom('file_uses')
      .where('store_id', '=', storeId)
      .where('owner', '=', owner)
      .returning('file_id')
    await ctx.root
      .with('gone', () => removed)
      .updateTable('files')
      .set({ updated_at: ctx.now() })
      .where('store_id', '=', storeId)
      .where('id', 'in', (eb) => eb.selectFrom('gone').select('file_id'))
      .execute()
  }
}

const isExpired = (ctx: Context, file: Pick<FileRow, 'expires_at'>): boolean =>
  file.expires_at !== null && file.expires_at <= ctx.now()

interface FileRow {
  id: string
  key: string
  purpose: string
  content_type: string
  size: number
  uploaded_at: Date | null
  expires_at: Date | null
}

/** Finds files by URL, and locks them so that `files-clean` cannot delete them before the transaction ends. */
async function findFiles(ctx: Context, urls: string[]): Promise<Map<string, FileRow>> {
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

/** Returns the file's id; refuses a file that cannot be used. */
async function requireUsable(ctx: Context, use: FileUse, file: FileRow | undefined): Promise<string> {
  const fault = await explainUnusable(ctx, use.purpose, file)
  if (fault) throw refuse('bad_request', `${use.field}: ${fault}`)
  return file!.id
}

/** Explains why a file cannot be used, as the end of an error message; null if it can be used. */
async function explainUnusable(
  ctx: Context,
  purpose: string | null,
  file: FileRow | undefined,
): Promise<string | null> {
  if (!file) return 'is no file of this store'
  if (purpose !== null && file.purpose !== purpose) return 'was uploaded for something else'
  if (isExpired(ctx, file)) return 'is not kept any more: upload it again'
  if (file.uploaded_at) return null
  const stored = await ctx.adapters.storage.head(file.key)
  if (!stored || stored.size !== file.size) return 'was never uploaded: upload it first'
  await ctx.db.updateTable('files').set({ uploaded_at: ctx.now() }).where('id', '=', file.id).execute()
  return null
}

/**
 * Validates the file fields of a body. Allowed are https URLs outside our storage and finished uploads of this store. Values
 * that are not URLs, such as the name of an icon, are left to the schema. Must not be called inside a transaction, because it
 * calls the storage.
 */
export const lookUpFiles: ReferenceLookup = async (ctx, values) => {
  const faults = new Map<string, string>()
  const { storage } = ctx.adapters
  for (const url of values.map(String)) {
    if (storage.owns(url)) {
      const file = await ctx.db
        .selectFrom('files')
        .select(['id', 'key', 'purpose', 'content_type', 'size', 'uploaded_at', 'expires_at'])
        .where('url', '=', url)
        .executeTakeFirst()
      const fault = await explainUnusable(ctx, null, file)
      if (fault) faults.set(url, fault)
    } else if (url.includes('://') && !isHttps(url)) {
      faults.set(url, 'must be an https address or the fileUrl of an upload')
    }
  }
  return (named) => named.map((url) => faults.get(String(url))).find((fault) => fault !== undefined) ?? null
}

/** Refuses new files that cannot be used, before a transaction begins. `trackFiles` would refuse them too, but later. */
export async function requireUploadedFields(
  ctx: Context,
  schema: z.ZodTypeAny,
  { before, after }: { before: unknown; after: unknown },
): Promise<void> {
  const known = new Set(findReferences(schema, before).map(({ value }) => value))
  for (const { kind, field, value } of findReferences(schema, after)) {
    const url = String(value)
    if (kind !== 'file' || known.has(value) || !ctx.adapters.storage.owns(url)) continue
    await requireUploaded(ctx, null, url, field)
  }
}

const isHttps = (url: string): boolean =>
  url.length <= 2000 && !/\s/.test(url) && URL.canParse(url) && new URL(url).protocol === 'https:'

/**
 * Checks that the URL is an uploaded file of this store and purpose, and returns its content type. A refusal names the
 * `field`. Must not be called inside a transaction, because it calls the storage.
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
  await requireUsable(ctx, { url, purpose, field }, file)
  return { contentType: file!.content_type }
}
