/** The calls of the page: to the sandbox as the world outside, to the API as the store, whose key a tab keeps. */
const kept = 'sandbox-keys'
const atMost = 100
const listeners = []
/** What this page has asked for that is no mere look, newest first. */
export const requests = []

export const onRequest = (listener) => listeners.push(listener)

const keys = () => JSON.parse(sessionStorage.getItem(kept) ?? '{}')
export const keyOf = (store) => keys()[store] ?? null

/** Until the tab is closed; an empty one is forgotten. */
export function keepKey(store, key) {
  const all = keys()
  if (key) all[store] = key
  else delete all[store]
  sessionStorage.setItem(kept, JSON.stringify(all))
}

/** The key goes to the API of this server, and nowhere else. */
const headersOf = ({ path, body, form }, key) => ({
  ...(key && path.startsWith('/v1/') ? { authorization: `Bearer ${key}` } : {}),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
})

const textOf = ({ body, form }) => {
  if (form) return new URLSearchParams(form).toString()
  return body === undefined ? undefined : JSON.stringify(body)
}

/** `{ status, answer }`, whatever it is. `quiet`: it only looks, which is not worth telling. */
export async function call(request, { key = null, quiet = false } = {}) {
  const at = new Date().toISOString()
  const response = await fetch(request.path, {
    method: request.method,
    headers: headersOf(request, key),
    body: textOf(request),
    cache: 'no-store',
    // Where a payer is sent back to is the store's affair; a browser shows it as status 0.
    redirect: 'manual',
  })
  const text = await response.text()
  const status = response.type === 'opaqueredirect' ? 303 : response.status
  if (!quiet) {
    requests.unshift({ id: `request-${requests.length}-${at}`, ...request, status, at })
    requests.length = Math.min(requests.length, atMost)
    for (const listener of listeners) listener()
  }
  return { status, answer: parsed(text) }
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text === '' ? null : text
  }
}

/** A call of the sandbox; what is refused is an error with the sentence that says why. */
export async function ask(path, body, options) {
  const method = body === undefined ? 'GET' : 'POST'
  const { status, answer } = await call({ method, path: `/sandbox/api${path}`, body }, options)
  if (status >= 400) throw new Error(faultOf(status, answer))
  return answer
}

export const faultOf = (status, answer) => answer?.error?.message ?? `HTTP ${status}`

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/** The same call for a shell; `key` as it is to be seen there. */
export function curlOf(request, key) {
  const headers = Object.entries(headersOf(request, key)).map(
    ([name, value]) => `-H ${quoted(`${name}: ${value}`)}`,
  )
  const data = textOf(request)
  return [
    `curl -X ${request.method}`,
    ...headers,
    ...(data === undefined ? [] : [`--data ${quoted(data)}`]),
    quoted(`${location.origin}${request.path}`),
  ].join(' \\\n  ')
}
