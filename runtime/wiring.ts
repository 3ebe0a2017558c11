/**
 * What sections give each other, as data. The `points.ts` of a section says what may be wired to it, the `wiring.ts` of
 * a section what it wires to whose points. The registry merges all of it once, in the order of the sections' names and
 * within one as written, and freezes it; whoever has a context reads it (`ctx.wired.widgets`).
 */

/**
 * Every point there is, by its name: each `points.ts` adds its own.
 * @public
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is merged with what each points.ts declares
export interface Points {}

/** One entry a key; two of one key are a fault. */
export interface ByKey<Entry, Key extends string = string> extends Point<'by-key', Entry> {
  readonly key?: Key
}
/** Entries that are all heard, one after the other. */
export interface InOrder<Entry> extends Point<'in-order', Entry> {}
/** The same, some for each key. */
export interface ListsByKey<Entry, Key extends string = string> extends Point<'lists-by-key', Entry> {
  readonly key?: Key
}
/** One at most. */
export interface Single<Entry> extends Point<'single', Entry> {}

interface Point<How, Entry> {
  readonly how: How
  readonly faultOf: FaultOf<Entry> | null
  /** For types alone: nothing is there when it runs. */
  readonly entry?: Entry
}
// biome-ignore lint/suspicious/noExplicitAny: of whatever entries, which are its section's own business
export type AnyPoint = ByKey<any> | InOrder<any> | ListsByKey<any> | Single<any>

/** What is known besides when an entry is looked at. */
export interface Known {
  /** Of the entry; of one in order its place. */
  key: string
  jobs: ReadonlySet<string>
  /** Of all plans. */
  features: ReadonlySet<string>
  /** Everything that is wired to the same point, under its key. */
  all: Readonly<Record<string, unknown>>
}
export interface Wrong {
  wrong: string
  remedy: string
}
/** What is wrong with an entry; null: nothing. A method, so that a point of some entry is one of any. */
type FaultOf<Entry> = { of(entry: Entry, known: Known): Wrong | null }['of']

export const byKey = <Entry, Key extends string = string>(
  faultOf: FaultOf<Entry> | null = null,
): ByKey<Entry, Key> => ({ how: 'by-key', faultOf })
export const inOrder = <Entry>(faultOf: FaultOf<Entry> | null = null): InOrder<Entry> => ({
  how: 'in-order',
  faultOf,
})
export const listsByKey = <Entry, Key extends string = string>(
  faultOf: FaultOf<Entry> | null = null,
): ListsByKey<Entry, Key> => ({ how: 'lists-by-key', faultOf })
export const single = <Entry>(faultOf: FaultOf<Entry> | null = null): Single<Entry> => ({
  how: 'single',
  faultOf,
})

type Keyed<Entry, Key extends string> = Readonly<Partial<Record<Key, Entry>>>
type GivenTo<P> =
  P extends ByKey<infer Entry, infer Key>
    ? Keyed<Entry, Key>
    : P extends InOrder<infer Entry>
      ? readonly Entry[]
      : P extends ListsByKey<infer Entry, infer Key>
        ? Keyed<readonly Entry[], Key>
        : P extends Single<infer Entry>
          ? Entry
          : never
/** What a wiring may give. */
export type Given = { readonly [Name in keyof Points]?: GivenTo<Points[Name]> }
/** What all wirings gave; of a single one that nobody gave null. */
export type Wired = {
  readonly [Name in keyof Points]: Points[Name] extends Single<infer Entry>
    ? Entry | null
    : GivenTo<Points[Name]>
}

/** The default export of a `points.ts`: what may be wired to its section. */
export interface PointsOfSection<Declared = Readonly<Record<string, AnyPoint>>> {
  readonly kind: 'points'
  readonly declared: Declared
}
export const points = <Declared extends Readonly<Record<string, AnyPoint>>>(
  declared: Declared,
): PointsOfSection<Declared> => ({ kind: 'points', declared })

/** The default export of a `wiring.ts`: what its section gives to others, and to its own rooms. */
export interface Wiring {
  readonly kind: 'wiring'
  readonly given: Given
}
export const wiring = (given: Given): Wiring => ({ kind: 'wiring', given })
