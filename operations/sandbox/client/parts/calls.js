/** HTTP calls of the page: to the sandbox endpoints, and to the API with the store's key, which stays in the tab. */
const storageKey = 'sandbox-keys'
const atMost = 100
const listeners = []
/** Requests of this page, newest first, except quiet ones (see `call`). */
export const requests = []

export const onRequest = (listener) => listeners.push(listener)

const keys = () => JSON.parse(sessionStorage.getItem(storageKey) ?? '{}')
export const getKey = (store) => keys()[store] ?? null

/** Saves the key until the tab is closed; null deletes it. */
export function saveKey(store, key) {
  const all = keys()
  if (key) all[store] = key
  else delete all[store]
  sessionStorage.setItem(storageKey, JSON.stringify(all))
}

/** Builds the headers of a request. The key is sent only to the API of this server. */
const buildHeaders = ({ path, body, form }, key) => ({
  ...(key && path.startsWith('/v1/') ? { authorization: `Bearer ${key}` } : {}),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
})

const buildBody = ({ body, form }) => {
  if (form) return new URLSearchParams(form).toString()
  return body === undefined ? undefined : JSON.stringify(body)
}

/** Returns `{ status, answer }` for any status. `quiet`: a read that the timeline does not list. */
export async function call(request, { key = null, quiet = false } = {}) {
  const at = new Date().toISOString()
  const response = await fetch(request.path, {
    method: request.method,
    headers: buildHeaders(request, key),
    body: buildBody(request),
    cache: 'no-store',
    // The payer's redirect back to the store is not followed; browsers report such a response with status 0.
    redirect: 'manual',
  })
  const text = await response.text()
  const status = response.type === 'opaqueredirect' ? 303 : response.status
  if (!quiet) {
    requests.unshift({ id: `request-${requests.length}-${at}`, ...request, status, at })
    requests.length = Math.min(requests.length, atMost)
    for (const listener of listeners) listener()
  }
  return { status, answer: parseAnswer(text) }
}

function parseAnswer(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text === '' ? null : text
  }
}

/** Calls a sandbox endpoint. Throws the error message of a refused call. */
export async function ask(path, body, options) {
  const method = body === undefined ? 'GET' : 'POST'
  const { status, answer } = await call({ method, path: `/sandbox/api${path}`, body }, options)
  if (status >= 400) throw new Error(readError(status, answer))
  return answer
}

export const readError = (status, answer) => answer?.error?.message ?? `HTTP ${status}`

const quoteShell = (text) => `'${text.replaceAll("'", "'\\''")}'`

/** Returns the call as a curl command, with `key` as its API key. */
export function toCurl(request, key) {
  const headers = Object.entries(buildHeaders(request, key)).map(
    ([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`,
  )
  const data = buildBody(request)
  return [
    `curl -X ${request.method}`,
    ...headers,
    ...(data === undefined ? [] : [`--data ${quoteShell(data)}`]),
    quoteShell(`${location.origin}${request.path}`),
  ].join(' \\\n  ')
}
