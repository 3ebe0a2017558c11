/**
 * A query compiled once and run often: the builder, tenant isolation and the compiler run at the first call, later
 * calls only fill in values. For hot reads; a query whose text depends on its input uses `ctx.db`.
 */
import {
  type Compilable,
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SelectQueryNode,
} from 'kysely'
import type { Plan } from '#db/postgres/pool'
import type { TenantTables } from '#db/tables'
import { TenantScope } from '#db/tenant-scope'
import type { Context } from '#runtime/context'
import type { MergedExtensions } from '#runtime/extensions'

/** Represents a value while the query is compiled. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

const storePlaceholder = new Placeholder('store')

/**
 * Sends fewer values per call: the store is one parameter however many conditions use it, and constant numbers are
 * part of the text.
 */
class StoreOnceCompiler extends PostgresQueryCompiler {
  #placeholder: string | null = null

  override compileQuery(...query: Parameters<PostgresQueryCompiler['compileQuery']>): CompiledQuery {
    this.#placeholder = null
    return super.compileQuery(...query)
  }

  protected override appendValue(parameter: unknown): void {
    if (parameter === storePlaceholder && this.#placeholder) this.append(this.#placeholder)
    else if (Number.isSafeInteger(parameter)) this.append(String(parameter))
    else {
      super.appendValue(parameter)
      if (parameter === storePlaceholder) this.#placeholder = this.getCurrentParameterPlaceholder()
    }
  }
}

const compiling = new Kysely<TenantTables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new StoreOnceCompiler(),
  },
}).withPlugin(new TenantScope(storePlaceholder))

/**
 * `build` gets placeholders instead of values, which it must not inspect, and the merged extensions, which may
 * contribute parts of the query. Returns the rows. `plan` as in `Database.query`: `once` for rows by their id.
 * @example const byId = prepared((db, p: { id: string }) => db.selectFrom('stores').select('name').where('id', '=',
 * p.id))
 */
export function prepared<P extends object, Row>(
  build: (db: Kysely<TenantTables>, values: P, extensions: MergedExtensions) => Compilable<Row>,
  { plan }: { plan?: Plan | undefined } = {},
): (ctx: Context, values: P) => Promise<Row[]> {
  const compile = (extensions: MergedExtensions): CompiledText => {
    const placeholders = new Proxy({} as P, {
      get: (_target, name) => new Placeholder(String(name)),
      ownKeys() {
        throw new Error('Values of a prepared query are placeholders: take each by its name, spread none')
      },
    })
    const { sql, parameters, query } = build(compiling, placeholders, extensions).compile()
    if ((plan === 'once' || plan === 'apart') && !SelectQueryNode.is(query)) {
      throw new Error(`A write goes by no plan '${plan}', whose connections do not wait for the disk`)
    }
    // The compiler's text is a rope of pieces, which the driver would walk at every call: flattened here.
    return { text: Buffer.from(sql).toString(), parameters }
  }
  // One per server; the apps of tests have their own extensions.
  const texts = new WeakMap<MergedExtensions, CompiledText>()
  return (ctx, values) => {
    let compiled = texts.get(ctx.extensions)
    if (!compiled) {
      compiled = compile(ctx.extensions)
      texts.set(ctx.extensions, compiled)
    }
    const bound = compiled.parameters.map((each) => {
      if (each === storePlaceholder) return ctx.store.id
      return each instanceof Placeholder ? ((values as Record<string, unknown>)[each.name] ?? null) : each
    })
    return ctx.runPrepared<Row>(compiled.text, bound, plan)
  }
}

interface CompiledText {
  text: string
  parameters: readonly unknown[]
}
