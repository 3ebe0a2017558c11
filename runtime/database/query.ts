/**
 * A query compiled once and run often: the builder, the wall and the compiler do their work at the first call, later
 * calls only fill in values. For the hot reads; anything whose text depends on its input uses `ctx.db`.
 */
import {
  type Compilable,
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { TenantTables } from '#db/tables'
import { TenantWall } from '#db/wall'
import type { Context } from '#runtime/context'

/** Stands for a value while the text is made. */
class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

const storeSlot = new Slot('store')

/**
 * Fewer values travel with each call: the store is one parameter, however many conditions of the wall name it, and a
 * number that is the same each time is part of the text.
 */
class StoreOnceCompiler extends PostgresQueryCompiler {
  #placeholder: string | null = null

  override compileQuery(...query: Parameters<PostgresQueryCompiler['compileQuery']>): CompiledQuery {
    this.#placeholder = null
    return super.compileQuery(...query)
  }

  protected override appendValue(parameter: unknown): void {
    if (parameter === storeSlot && this.#placeholder) this.append(this.#placeholder)
    else if (Number.isSafeInteger(parameter)) this.append(String(parameter))
    else {
      super.appendValue(parameter)
      if (parameter === storeSlot) this.#placeholder = this.getCurrentParameterPlaceholder()
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
}).withPlugin(new TenantWall(storeSlot))

/**
 * `build` gets placeholders instead of values: it must not look at them. Answers the rows. `planOnce` and
 * `planEachTime` as the plans of `Database.query`: for rows by their id, and for text that is looked for.
 * @example const byId = prepared((db, p: { id: string }) => db.selectFrom('campaigns').select('name').where('id', '=', p.id))
 */
export function prepared<P extends object, Row>(
  build: (db: Kysely<TenantTables>, values: P) => Compilable<Row>,
  { planOnce = false, planEachTime = false } = {},
): (ctx: Context, values: P) => Promise<Row[]> {
  const plan = planOnce ? 'once' : planEachTime ? 'each-time' : undefined
  let text: string | null = null
  let fill: ((storeId: string, values: P) => unknown[]) | null = null
  return (ctx, values) => {
    if (text === null || fill === null) {
      const slots = new Proxy({} as P, { get: (_target, name) => new Slot(String(name)) })
      const compiled = build(compiling, slots).compile()
      const parameters = compiled.parameters
      // The compiler's text is a chain of pieces, which the driver would walk along at every call: made one here.
      text = Buffer.from(compiled.sql).toString()
      fill = (storeId, given) =>
        parameters.map((each) => {
          if (each === storeSlot) return storeId
          return each instanceof Slot ? ((given as Record<string, unknown>)[each.name] ?? null) : each
        })
    }
    return ctx.run<Row>(text, fill(ctx.store.id, values), plan)
  }
}
