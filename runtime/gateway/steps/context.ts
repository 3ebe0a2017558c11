/** Builds the handler's context. */
import type { StoreFacts } from '#db/access'
import { Context } from '#runtime/context'
import type { Call } from '../call.ts'
import { Claim, hashRequest, idempotencyKey } from '../idempotency.ts'

/** A write with an Idempotency-Key gets its claim here; the next step acquires it. */
export function makeContext(call: Call): void {
  const { access, gateway, operation, requestId, request } = call
  const isWrite = !operation!.spec.readOnly && access !== null
  const key = isWrite ? idempotencyKey(request.header('idempotency-key')) : null
  const address = `${request.path}${request.search}`
  const claim =
    key === null
      ? null
      : new Claim(
          key,
          hashRequest(request.method, address, call.text, request.header('if-match')),
          operation!.spec.transaction === 'own',
        )
  call.context = new Context(
    gateway.services,
    access?.store ?? noStore,
    {
      kind: 'key',
      userId: access?.userId ?? null,
      role: access?.role ?? 'agent',
      scopes: access?.scopes ?? noScopes,
      requestId,
      keyId: access?.keyId ?? null,
      idempotencyKey: key,
      claim,
      access,
    },
    gateway.services.log,
  )
}

const noScopes: ReadonlySet<string> = new Set()
/** The store of a public operation: no store has this id, so tenant isolation gives access to no rows. */
const noStore: StoreFacts = {
  id: '00000000-0000-0000-0000-000000000000',
  name: '',
  slug: '',
  publicId: '',
  domain: '',
  country: 'BR',
  currency: 'BRL',
  timezone: 'UTC',
  locale: 'en',
}
