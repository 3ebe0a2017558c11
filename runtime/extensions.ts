/**
 * Extensions: what sections provide to each other, as data. A section's `extension-points.ts` declares extension
 * points; its `extensions.ts` registers entries for extension points of any section. The registry merges all entries
 * once, in the order of the sections' names and within a section as written, and freezes the result. Handlers read it
 * from the context (`ctx.extensions.widgets`).
 */

/**
 * Every extension point, by its name. Each `extension-points.ts` adds its own by declaration merging.
 * @public
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is merged with what each extension-points.ts declares
export interface ExtensionPoints {}

/** One entry per key; a duplicate key is an error. */
export interface ByKey<Entry, Key extends string = string> extends ExtensionPoint<'by-key', Entry> {
  readonly key?: Key
}
/** Entries that all run, one after the other. */
export interface InOrder<Entry> extends ExtensionPoint<'in-order', Entry> {}
/** Several entries per key, each in order. */
export interface ListsByKey<Entry, Key extends string = string>
  extends ExtensionPoint<'lists-by-key', Entry> {
  readonly key?: Key
}
/** One entry at most. */
export interface Single<Entry> extends ExtensionPoint<'single', Entry> {}

interface ExtensionPoint<How, Entry> {
  readonly mode: How
  readonly validate: ValidateEntry<Entry> | null
  /** For types only: it does not exist at run time. */
  readonly entry?: Entry
}
// biome-ignore lint/suspicious/noExplicitAny: of whatever entries, which are its section's own business
export type AnyExtensionPoint = ByKey<any> | InOrder<any> | ListsByKey<any> | Single<any>

/** The context that an entry is validated in. */
export interface ValidationContext {
  /** The entry's key, or its index in a list. */
  key: string
  jobs: ReadonlySet<string>
  /** The features of all plans. */
  features: ReadonlySet<string>
  /** All entries of the same extension point, by their key. */
  all: Readonly<Record<string, unknown>>
}
export interface ValidationIssue {
  wrong: string
  remedy: string
}
/**
 * Finds the issue of an entry, or null. A method type, so that an extension point of some entry is assignable to one
 * of any.
 */
type ValidateEntry<Entry> = { of(entry: Entry, known: ValidationContext): ValidationIssue | null }['of']

export const byKey = <Entry, Key extends string = string>(
  validate: ValidateEntry<Entry> | null = null,
): ByKey<Entry, Key> => ({ mode: 'by-key', validate })
export const inOrder = <Entry>(validate: ValidateEntry<Entry> | null = null): InOrder<Entry> => ({
  mode: 'in-order',
  validate,
})
export const listsByKey = <Entry, Key extends string = string>(
  validate: ValidateEntry<Entry> | null = null,
): ListsByKey<Entry, Key> => ({ mode: 'lists-by-key', validate })
export const single = <Entry>(validate: ValidateEntry<Entry> | null = null): Single<Entry> => ({
  mode: 'single',
  validate,
})

type Keyed<Entry, Key extends string> = Readonly<Partial<Record<Key, Entry>>>
type ExtensionFor<P> =
  P extends ByKey<infer Entry, infer Key>
    ? Keyed<Entry, Key>
    : P extends InOrder<infer Entry>
      ? readonly Entry[]
      : P extends ListsByKey<infer Entry, infer Key>
        ? Keyed<readonly Entry[], Key>
        : P extends Single<infer Entry>
          ? Entry
          : never
/** The extensions that one section may register. */
export type SectionExtensions = {
  readonly [Name in keyof ExtensionPoints]?: ExtensionFor<ExtensionPoints[Name]>
}
/** The merged extensions of all sections; a single one that nobody registered is null. */
export type MergedExtensions = {
  readonly [Name in keyof ExtensionPoints]: ExtensionPoints[Name] extends Single<infer Entry>
    ? Entry | null
    : ExtensionFor<ExtensionPoints[Name]>
}

/** The default export of an `extension-points.ts`: the extension points of its section. */
export interface SectionExtensionPoints<Declared = Readonly<Record<string, AnyExtensionPoint>>> {
  readonly kind: 'extension-points'
  readonly declared: Declared
}
export const extensionPoints = <Declared extends Readonly<Record<string, AnyExtensionPoint>>>(
  declared: Declared,
): SectionExtensionPoints<Declared> => ({ kind: 'extension-points', declared })

/** The default export of an `extensions.ts`: what its section provides to other sections and to its own modules. */
export interface Extensions {
  readonly kind: 'extensions'
  readonly given: SectionExtensions
}
export const extensions = (given: SectionExtensions): Extensions => ({ kind: 'extensions', given })
