/**
 * Declares operations of the API. Each is a file whose default export is `operation({…})`: all that the gateway, the
 * documents and the assistants know about the operation.
 */
import type { Context } from './context.ts'
import type { ErrorCode } from './errors.ts'
import type { Consequence, Method, Role, Scope } from './roles.ts'
import { z } from './schema.ts'

export { z }

/** An answer's body as JSON text, usually built by the database. It is sent unchanged. */
export class JsonText {
  readonly text: string
  /** Additional headers, such as X-Total-Capped. */
  readonly headers: Record<string, string> | undefined
  /**
   * The text that the ETag's first half is computed from. It differs from `text` if that has values that change without
   * a write, such as signed addresses.
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

/** `since`, `sunset`: days in UTC. `link`: a page that says what replaces the operation, `https://…` or `/…`. */
export interface Deprecation {
  since: string
  /** The day from which the operation may be gone. */
  sunset?: string
  link?: string
}

export interface OperationSpec<
  P extends string,
  Q extends z.ZodTypeAny | undefined,
  B extends z.ZodTypeAny | undefined,
  A extends z.ZodTypeAny | undefined,
> {
  method: Method
  /** The path without `/v1`; parameters are written as `:name`. */
  path: P
  /** One plain sentence that says what the operation does. */
  description: string
  /** Rules that a caller should know before a call, for the documents. */
  details?: string
  /** Words of merchants for the operation that are not in the description: assistants find it by these words. */
  words?: string
  /** The scopes that a key needs; `[]` if any key may call the operation. */
  scopes: readonly Scope[]
  readOnly: boolean
  /** The feature of a plan that the operation needs; absent if every plan includes the operation. */
  feature?: string
  /**
   * The least role that the key's creator must have. Default: `agent` reads, `member` writes, `owner` for team and
   * billing.
   */
  minimumRole?: Role
  /** True for a write that is allowed although the store's subscription is paused or has ended. */
  whilePaused?: boolean
  /** Set if the operation needs no key: the reason why that is safe. */
  public?: string
  /** Set if callers should use something else. Every answer then says so in its headers. */
  deprecated?: Deprecation
  /** The input that the operation accepts. If no field of `body` is required, the body itself is optional. */
  input?: { params?: Record<string, string>; query?: Q; body?: B }
  answer: { status: 200 | 201 | 202 | 204; body?: A; description?: string }
  /** The refusals of the handler, for the documents. Those of the gateway are added automatically. */
  refuses?: Partial<Record<ErrorCode, string>>
  /** True if the answer is one resource, which then has an ETag. */
  etag?: boolean
  /**
   * The resources that the `If-Match` of this write is compared with, if they cannot be derived from its path
   * (`if-match.ts`): either paths of reads with an ETag, or a function that reads the resource. `of`: the schema of
   * what the function reads, if it is not the schema of the write's answer.
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
   * Paths of the reads that preview this write: its recipients, its appearance, its cost. Assistants are advised to
   * call these reads before they ask the merchant.
   */
  lookFirst?: readonly string[]
  /**
   * The path of the read that shows how far the work of a 202 is, with its query if it needs one. Its parameters are
   * those of this path, else fields of the answer: `/lists/:listId`. It is the answer's `Location`.
   */
  monitor?: string
  /**
   * Consequences that cannot be undone, for example a person gets a message, data is deleted, something ends for good.
   * Those that follow from the scopes or from the method DELETE need not be listed. Assistants are advised to ask the
   * merchant first.
   */
  consequences?: readonly Consequence[]
  /** The answer's Cache-Control. The answer then also supports If-None-Match. */
  cache?: string
  /**
   * `whole` (a write's default): the handler runs in one transaction. `statement`: it is a single statement, which is
   * its own transaction. `own`: the handler opens its transactions itself, around calls to providers. A read that
   * calls a provider declares `own` too, since the tests would otherwise hold a transaction open around the call.
   */
  transaction?: 'whole' | 'statement' | 'own'
  /** A valid call, for the documents. Path parameters, query and body are written as in `input`. */
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

/** An operation without its specific types, so that all operations have the same type. */
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
