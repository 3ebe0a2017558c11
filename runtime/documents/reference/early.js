/**
 * Renders only the linked operation in plain form until Scalar has drawn the whole reference, which takes seconds.
 */
{
  const wanted = decodeURIComponent(location.hash.slice(1))
  const [, method, path] = /^tag\/[^/]+\/(GET|POST|PUT|PATCH|DELETE)(\/.*)$/.exec(wanted) ?? []

  const make = (name, ...children) => {
    const made = document.createElement(name)
    made.append(...children)
    return made
  }
  /** Renders a description: its text, with code and bold words as elements. */
  const words = (text = '') =>
    text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
      if (part.startsWith('`')) return make('code', part.slice(1, -1))
      return part.startsWith('**') ? make('strong', part.slice(2, -2)) : part
    })

  function describe(api, operation) {
    const at = (each) =>
      each?.$ref
        ? each.$ref
            .slice(2)
            .split('/')
            .reduce((one, key) => one?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], api)
        : each
    const typeOf = (schema) => {
      const { type, items, format, anyOf, oneOf, enum: values, const: value } = at(schema) ?? {}
      if (value !== undefined) return JSON.stringify(value)
      if (values) return values.map((each) => JSON.stringify(each)).join(' | ')
      if (type === 'array') return `list of ${typeOf(items)}`
      const several = anyOf ?? oneOf
      if (several) return [...new Set(several.map(typeOf))].join(' | ')
      return [type].flat().join(' | ') + (format ? ` (${format})` : '')
    }
    const row = (name, schema, isRequired, description) =>
      make(
        'li',
        make('code', name),
        ` ${typeOf(schema)}${isRequired ? ', required' : ''}`,
        ...(description ? ['. ', ...words(description)] : []),
      )
    const list = (title, rows) => (rows.length > 0 ? [make('h2', title), make('ul', ...rows)] : [])
    const given = (operation.parameters ?? []).map(at)
    const body = at(at(operation.requestBody)?.content?.['application/json']?.schema)
    const answers = Object.entries(operation.responses).map(([status, answer]) =>
      make('li', make('code', status), ' ', ...words(answer.description ?? at(answer)?.description)),
    )
    return [
      make('h1', operation.summary),
      make('p', make('code', `${method} ${api.servers[0].url}${path}`)),
      ...operation.description
        .split(/\n\n+/)
        .filter((each) => each.replace(/\.$/, '') !== operation.summary)
        .map((each) => make('p', ...words(each))),
      ...list(
        'Parameters',
        given.map((each) => row(each.name, each.schema, each.required, each.description)),
      ),
      ...list(
        'Body',
        Object.entries(body?.properties ?? {})
          .filter(([, each]) => !each.readOnly)
          .map(([name, each]) =>
            row(name, each, body.required?.includes(name), each.description ?? at(each)?.description),
          ),
      ),
      ...list('Answers', answers),
    ]
  }

  async function tell() {
    const api = await (await fetch('/v1/openapi.json')).json()
    const operation = api.paths[path]?.[method.toLowerCase()]
    const reference = document.getElementById('reference')
    const drawn = () => [...reference.querySelectorAll('section[id]')]
    if (!operation || drawn().length > 0) return
    const early = make('article', ...describe(api, operation))
    early.id = 'early'
    reference.before(early)
    const leave = () => {
      early.remove()
      watching.disconnect()
    }
    // Scalar draws the linked section first; any operation's id shows that it has begun.
    const watching = new MutationObserver(() => {
      if (drawn().some(({ id }) => id.includes(`/${method}/`))) leave()
    })
    watching.observe(reference, { childList: true, subtree: true, attributeFilter: ['id'] })
    addEventListener('hashchange', leave, { once: true })
  }

  /** Resolves after painting, or after 200 ms in a hidden tab, which never paints. */
  const painted = () =>
    new Promise((resolve) => {
      requestAnimationFrame(() => setTimeout(resolve))
      setTimeout(resolve, 200)
    })

  // Scalar waits for this promise before it draws. It also resolves on failure: Scalar then shows what is wrong.
  globalThis.early = method ? tell().then(painted, () => undefined) : undefined
}
