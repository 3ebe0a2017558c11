/**
 * An operation of the API: one file, one default export of `operation({…})`. It holds all that the gateway, the
 * documents and the assistants know about it.
 */
import type { Context } from './context.ts'
import type { ErrorCode } from './errors.ts'
import type { Consequence, Method, Role, Scope } from './roles.ts'
import { z } from './schema.ts'

export { z }

/** JSON that the database built already: sent as it is. */
export class JsonText {
  readonly text: string
  /** Additional headers, such as X-Total-Capped. */
  readonly headers: Record<string, string> | undefined
  /**
   * The text that its ETag is computed from, if the JSON holds values that change by themselves, such as signed
   * addresses.
   */
  readonly identity: string
  constructor(text: string, headers?: Record<string, string>, identity: string = text) {
    this.text = text
    this.headers = headers
    this.identity = identity
  }
}

type PathParams<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? { [K in Name]: string } & PathParams<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? { [K in Name]: string }
    : Record<never, string>

type Parsed<S> = S extends z.ZodTypeAny ? z.infer<S> : undefined
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without an answer may simply end
type Answered<S> = S extends z.ZodTypeAny ? z.input<S> | JsonText : void

export interface OperationSpec<
  P extends string,
  Q extends z.ZodTypeAny | undefined,
  B extends z.ZodTypeAny | undefined,
  A extends z.ZodTypeAny | undefined,
> {
  method: Method
  /** Without `/v1`, parameters as `:name`. */
  path: P
  /** One plain sentence: what it does to whom. */
  description: string
  /** More for the documents: rules worth knowing before a call. */
  details?: string
  /** Merchants' words for it that are not in the description: assistants find the operation by them. */
  words?: string
  /** `[]` if any key may call it. */
  scopes: readonly Scope[]
  readOnly: boolean
  /** The plan's feature that it belongs to; absent if every plan has it. */
  feature?: string
  /** Least role of the key's creator. Default: `agent` reads, `member` writes, `owner` for team and billing. */
  minimumRole?: Role
  /** A write that a paused or ended subscription may still do. */
  whilePaused?: boolean
  /** No key is needed; the reason why that is safe. */
  public?: string
  /** `body` is optional as a whole if none of its fields is required. */
  input?: { params?: Record<string, string>; query?: Q; body?: B }
  answer: { status: 200 | 201 | 202 | 204; body?: A; description?: string }
  /** Its own refusals, for the documents; those of the pipeline are declared for it. */
  refuses?: Partial<Record<ErrorCode, string>>
  /** The answer is one resource: it gets an ETag. */
  etag?: boolean
  /**
   * The resources that an `If-Match` of this write is compared with, if its path does not show them (`if-match.ts`):
   * the paths of reads with an ETag, or a function that reads the resource if no operation does. `of`: its schema, if
   * the write does not answer it.
   */
  ifMatch?:
    | readonly string[]
    | {
        of?: z.ZodTypeAny
        read(
          ctx: Context,
          input: { params: PathParams<P>; query: Parsed<Q>; body: Parsed<B> },
        ): Promise<unknown> | unknown
      }
  /**
   * Paths of the reads that preview this write: its recipients, its look, its cost. Assistants are advised to call
   * them before they ask the merchant.
   */
  lookFirst?: readonly string[]
  /**
   * Consequences that nobody can undo, in addition to those that its scopes and DELETE imply: an outsider gets a
   * message, data is gone, something ends for good. Assistants are advised to ask the merchant first.
   */
  consequences?: readonly Consequence[]
  /** The Cache-Control of its answer; it also supports If-None-Match. */
  cache?: string
  /**
   * `whole` (a write's default): the handler runs in one transaction. `statement`: it is a single statement, which is
   * its own transaction. `own`: the handler opens its transactions itself, around calls to providers. A read that
   * calls a provider declares `own` too, since the tests would otherwise hold a transaction open around the call.
   */
  transaction?: 'whole' | 'statement' | 'own'
  /** A call that works, for the documents. Path parameters, query and body as in `input`. */
  example?: {
    params?: Record<string, string>
    query?: Record<string, unknown>
    body?: unknown
    answer?: unknown
  }
  handler(
    ctx: Context,
    input: { params: PathParams<P>; query: Parsed<Q>; body: Parsed<B> },
  ): Promise<Answered<A>> | Answered<A>
}

/** An operation with its types erased: one form for all. */
export interface Operation {
  readonly kind: 'operation'
  readonly spec: OperationSpec<
    string,
    z.ZodTypeAny | undefined,
    z.ZodTypeAny | undefined,
    z.ZodTypeAny | undefined
  >
}

export function operation<
  const P extends string,
  Q extends z.ZodTypeAny | undefined = undefined,
  B extends z.ZodTypeAny | undefined = undefined,
  A extends z.ZodTypeAny | undefined = undefined,
>(spec: OperationSpec<P, Q, B, A>): Operation {
  return { kind: 'operation', spec: spec as unknown as Operation['spec'] }
}
