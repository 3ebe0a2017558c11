/**
 * Renders Shopify's themes with LiquidJS: JSON templates, sections, theme blocks (`content_for`), and stand-ins of
 * Shopify's own filters and tags (https://shopify.dev/docs/api/liquid). Nothing of a theme is in this repository.
 */
import { existsSync, readFileSync } from 'node:fs'
import { type Context, Liquid, type TagToken, type Template, type TopLevelToken } from 'liquidjs'

// biome-ignore lint/suspicious/noExplicitAny: Liquid's values have any shape
type Any = any
type Scope = Record<string, Any>

interface Definition {
  type: string
  settings?: Scope
  blocks?: Record<string, Definition & { static?: boolean }>
  block_order?: string[]
  disabled?: boolean
}

interface Block {
  id: string
  type: string
  settings: Scope
  shopify_attributes: string
  definition: Definition
}

export const formatMoney = (hundredths: unknown): string => `R$ ${(Number(hundredths) / 100).toFixed(2)}`

/** The theme in `folder`, whose pages render with `scope` and with what Shopify gives to every page. */
export class Theme {
  readonly #folder: string
  readonly #engine: Liquid
  readonly #locale: Any
  readonly #choices: Scope
  readonly #schemas = new Map<string, Any>()
  readonly settings: Scope
  /** The style sheets of `{% stylesheet %}` by file, which Shopify serves in one file. */
  readonly styles = new Map<string, string>()

  /** `choices` are settings of the theme and of its sections by name, instead of the published ones. */
  constructor(folder: string, choices: Scope = {}) {
    this.#folder = folder
    this.#choices = choices
    this.#locale = this.#json('locales/en.default.json')
    const inFolder = (name: string) => `${folder}/${name}`
    this.#engine = new Liquid({
      // Reads snippets without their comments.
      fs: {
        exists: async (file) => existsSync(file),
        existsSync,
        readFile: async (file) => readLiquid(file),
        readFileSync: readLiquid,
        resolve: (_root, file) => inFolder(`snippets/${file}.liquid`),
        contains: async () => true,
        containsSync: () => true,
      },
      relativeReference: false,
      strictFilters: false,
      strictVariables: false,
      cache: true,
    })
    this.#addFilters()
    this.#addTags()
    this.settings = this.#readSettings()
  }

  /** A whole page of a template, such as `product`. */
  async page(template: string, scope: Scope): Promise<string> {
    const globals = this.#globals(template, scope)
    const { order, sections } = this.#template(template)
    let main = ''
    for (const id of order) main += await this.#section(`template--1__${id}`, sections[id]!, globals)
    return this.#file('layout/theme', { ...globals, content_for_layout: main })
  }

  /** A section alone, as Shopify's Section Rendering API returns it; null if the theme has none by this id. */
  async section(id: string, template: string, scope: Scope): Promise<string | null> {
    const globals = this.#globals(template, scope)
    const [, group, name = id] = /^(template|sections)--1__(.+)$/.exec(id) ?? []
    if (group === 'template') {
      const definition = this.#template(template).sections[name]
      return definition ? this.#section(id, definition, globals) : null
    }
    if (group === 'sections') {
      for (const each of ['header-group', 'footer-group']) {
        const { sections } = this.#json(`sections/${each}.json`)
        if (sections[name]) return this.#section(id, sections[name], globals, each)
      }
      return null
    }
    return existsSync(`${this.#folder}/sections/${id}.liquid`)
      ? this.#section(id, { type: id }, globals)
      : null
  }

  #template = (name: string): { order: string[]; sections: Record<string, Definition> } =>
    this.#json(`templates/${name}.json`)

  #json(file: string): Any {
    const text = readFileSync(`${this.#folder}/${file}`, 'utf8')
    // Shopify's JSON may have comments on lines of their own, and commas at the end of lists.
    const bare = text.replace(/^\s*\/\*[\s\S]*?\*\//, '').replace(/^\s*\/\/.*$/gm, '')
    return JSON.parse(bare.replace(/,(\s*[}\]])/g, '$1'))
  }

  #readSettings(): Scope {
    const defaults: [string, Any][] = this.#json('config/settings_schema.json').flatMap((group: Any) =>
      (group.settings ?? []).filter((each: Any) => each.id).map((each: Any) => [each.id, defaultOf(each)]),
    )
    const data = this.#json('config/settings_data.json')
    const preset = data.presets?.[data.current] ?? data.current
    const settings: Scope = { ...Object.fromEntries(defaults), ...preset, ...this.#choices }
    const { color_schemes: schemes = {} } = settings
    settings.color_schemes = Object.entries(schemes).map(([id, scheme]) => ({
      id,
      settings: mapValues((scheme as Any).settings, toColor),
    }))
    const palette: Scope = settings.color_palette ?? {}
    for (const [name, value] of Object.entries(settings)) {
      if (name.startsWith('type_') && name.endsWith('_font')) settings[name] = font
      else if (name === 'color_palette') settings[name] = mapValues(value, toColor)
      else if (typeof value === 'string') {
        const [, named] = /^\{\{ settings\.color_palette\.(\w+) \}\}$/.exec(value) ?? []
        settings[name] = toColor(named ? palette[named] : value)
      }
    }
    return settings
  }

  #globals(template: string, scope: Scope): Scope {
    const name = Object.assign(new String(template), { name: template, suffix: null })
    return {
      settings: this.settings,
      shop: { name: 'Shop', url: '/', metafields: {}, policies: [], brand: {}, shipping_policy: {} },
      routes,
      request: {
        ...{ locale: { iso_code: 'en', primary: true, root_url: '/' }, origin: '', design_mode: false },
        page_type: template,
      },
      localization: {
        ...{ available_countries: [], available_languages: [], country: {} },
        language: { iso_code: 'en' },
      },
      template: name,
      canonical_url: '/',
      page_title: scope.product?.title ?? 'Shop',
      linklists: { 'main-menu': menu, footer: menu },
      collections: { all: scope.collection },
      closest: { product: scope.product, collection: scope.collection },
      current_tags: [],
      current_page: 1,
      recommendations: { performed: true, products: scope.products, products_count: scope.products.length },
      ...scope,
    }
  }

  #schemaOf(file: string): Any {
    if (!this.#schemas.has(file)) {
      const text = readFileSync(`${this.#folder}/${file}.liquid`, 'utf8')
      const found = /\{%-?\s*schema\s*-?%\}([\s\S]*?)\{%-?\s*endschema/.exec(text)
      this.#schemas.set(file, found ? JSON.parse(found[1]!) : {})
    }
    return this.#schemas.get(file)
  }

  /** The settings with their defaults; a text may contain Liquid itself (a dynamic source). */
  async #resolve(schema: Any, given: Scope, globals: Scope): Promise<Scope> {
    const known = defaultsOf(schema.settings)
    const chosen = Object.entries(this.#choices).filter(([name]) => name in known)
    const all: Scope = { ...known, ...given, ...Object.fromEntries(chosen) }
    for (const [name, value] of Object.entries(all)) {
      if (typeof value !== 'string') continue
      const whole = /^\s*\{\{([^{}|]+)\}\}\s*$/.exec(value)
      if (whole) all[name] = await this.#engine.evalValue(whole[1]!, globals)
      else
        all[name] = toColor(
          value.includes('{{') ? await this.#engine.parseAndRender(value, {}, { globals }) : value,
        )
    }
    return all
  }

  async #section(id: string, definition: Definition, globals: Scope, group?: string): Promise<string> {
    if (definition.disabled) return ''
    const file = `sections/${definition.type}`
    const schema = this.#schemaOf(file)
    const section: Scope = {
      id,
      settings: await this.#resolve(schema, definition.settings ?? {}, globals),
      index: 1,
    }
    section.blocks = []
    for (const { block } of await this.#blocks(definition, schema, globals)) section.blocks.push(block)
    const html = await this.#file(file, { ...globals, section, parent: definition, block: undefined })
    const tag = schema.tag ?? 'div'
    const names = ['shopify-section', group && `shopify-section-group-${group}`, schema.class].filter(Boolean)
    return `<${tag} id="shopify-section-${id}" class="${names.join(' ')}">${html}</${tag}>`
  }

  async #blocks(definition: Definition, schema: Any, globals: Scope): Promise<{ block: Block }[]> {
    const found: { block: Block }[] = []
    for (const id of definition.block_order ?? Object.keys(definition.blocks ?? {})) {
      const given = definition.blocks?.[id]
      if (!given || given.static || given.disabled) continue
      found.push({ block: await this.#block(id, given, globals, schema) })
    }
    return found
  }

  async #block(id: string, given: Definition, globals: Scope, parent: Any = {}): Promise<Block> {
    const own = existsSync(`${this.#folder}/blocks/${given.type}.liquid`)
      ? this.#schemaOf(`blocks/${given.type}`)
      : (parent.blocks ?? []).find((each: Any) => each.type === given.type)
    const settings = await this.#resolve(own ?? {}, given.settings ?? {}, globals)
    return { id, type: given.type, settings, shopify_attributes: '', definition: given }
  }

  #renderBlock = (block: Block, globals: Scope): Promise<string> =>
    this.#file(`blocks/${block.type}`, { ...globals, block, parent: block.definition })

  async #file(file: string, globals: Scope): Promise<string> {
    return this.#engine.parseAndRender(readLiquid(`${this.#folder}/${file}.liquid`), {}, { globals })
  }

  #addFilters(): void {
    const translate = (key: string, given: Scope): string => {
      let value = key.split('.').reduce((at, part) => at?.[part], this.#locale)
      if (value && typeof value === 'object') value = Number(given.count) === 1 ? value.one : value.other
      if (typeof value !== 'string') return key
      return value.replace(/\{\{\s*(\w+)\s*\}\}/g, (_all, name: string) => given[name] ?? '')
    }
    const asset = (name: string): string => {
      const path = `${this.#folder}/assets/${name}`
      return existsSync(path) ? readFileSync(path, 'utf8') : ''
    }
    const filters: Record<string, (value: Any, given: Scope, first: Any) => unknown> = {
      ...plainFilters,
      t: (key, given) => translate(String(key), given),
      inline_asset_content: (name) => asset(name),
    }
    for (const [name, apply] of Object.entries(filters)) {
      this.#engine.registerFilter(name, (value, ...given) =>
        apply(
          value,
          Object.fromEntries(given.filter(Array.isArray)),
          given.find((each) => !Array.isArray(each)),
        ),
      )
    }
  }

  #addTags(): void {
    const engine = this.#engine
    const theme = this
    const block = (name: string, render: (args: string, inner: string, ctx: Context) => string | undefined) =>
      engine.registerTag(name, {
        parse(token: TagToken, rest: TopLevelToken[]) {
          this.args = token.args
          this.templates = [] as Template[]
          const stream = engine.parser
            .parseStream(rest)
            .on(`tag:end${name}`, () => stream.stop())
            .on('template', (each: Template) => this.templates.push(each))
            .on('end', () => {
              throw new Error(`{% ${name} %} has no end`)
            })
          stream.start()
        },
        *render(ctx, emitter): Generator<Any, void, Any> {
          const inner: string = (yield engine.renderer.renderTemplates(this.templates, ctx)) as Any
          emitter.write(render(this.args, inner, ctx) ?? '')
        },
      })
    block('stylesheet', (_args, inner) => {
      theme.styles.set(inner.slice(0, 200), inner)
      return ''
    })
    block('javascript', (_args, inner) => `<script>(() => {${inner}})()</script>`)
    block('style', (_args, inner) => `<style>${inner}</style>`)
    block('paginate', (_args, inner) => inner)
    block('form', (args, inner, ctx) => {
      const kind = /^\s*'([^']+)'/.exec(args)![1]!
      const attributes = [...args.matchAll(/(?:^|[,\s])([\w-]+):\s*(?:'([^']*)'|([\w.]+))/g)]
        .filter(([, name]) => name !== 'return_to')
        .map(([, name, text, path]) => `${name}="${text ?? engine.evalValueSync(path!, ctx) ?? ''}"`)
      const action = formActions[kind] ?? `/${kind}`
      return `<form method="post" action="${action}" accept-charset="UTF-8" ${attributes.join(' ')}>
        <input type="hidden" name="form_type" value="${kind}">${inner}</form>`
    })
    engine.registerTag('section', {
      parse(token: TagToken) {
        this.name = /'([^']+)'/.exec(token.args)![1]!
      },
      *render(ctx, emitter): Generator<Any, void, Any> {
        emitter.write((yield theme.#section(this.name, { type: this.name }, ctx.globals as Scope)) as string)
      },
    })
    engine.registerTag('sections', {
      parse(token: TagToken) {
        this.name = /'([^']+)'/.exec(token.args)![1]!
      },
      *render(ctx, emitter): Generator<Any, void, Any> {
        const { order, sections } = theme.#json(`sections/${this.name}.json`)
        for (const id of order) {
          emitter.write(
            (yield theme.#section(
              `sections--1__${id}`,
              sections[id],
              ctx.globals as Scope,
              this.name,
            )) as string,
          )
        }
      },
    })
    engine.registerTag('content_for', {
      parse(token: TagToken) {
        this.args = token.args
      },
      *render(ctx, emitter): Generator<Any, void, Any> {
        const globals: Scope = { ...(ctx.globals as Scope) }
        const given: Scope = {}
        for (const [, path, text, value] of this.args.matchAll(
          /([\w.]+):\s*(?:'([^']*)'|([\w.]+))/g,
        ) as Iterable<Any>) {
          given[path] = text ?? ((yield engine.evalValue(value, ctx)) as Any)
        }
        globals.closest = { ...globals.closest }
        for (const [path, value] of Object.entries(given)) {
          if (path.startsWith('closest.')) globals.closest[path.slice(8)] = value
          else if (path !== 'type' && path !== 'id') globals[path] = value
        }
        const parent: Definition = globals.parent
        if (/^\s*'blocks'/.test(this.args)) {
          const schema = globals.block ? {} : theme.#schemaOf(`sections/${parent.type}`)
          const blocks = (yield theme.#blocks(parent, schema, globals)) as Any
          for (const { block: each } of blocks)
            emitter.write((yield theme.#renderBlock(each, globals)) as string)
          return
        }
        const found = parent?.blocks?.[given.id] ?? { type: given.type }
        const one = (yield theme.#block(given.id, { ...found, type: given.type }, globals)) as Any
        emitter.write((yield theme.#renderBlock(one, globals)) as string)
      },
    })
  }
}

/** Without schema and documentation, whose text is not Liquid. */
const readLiquid = (file: string): string =>
  readFileSync(file, 'utf8').replace(/\{%-?\s*(schema|doc|comment)\s*-?%\}[\s\S]*?\{%-?\s*end\1\s*-?%\}/g, '')

const defaultOf = (each: Any): Any => each.default ?? (each.type === 'checkbox' ? false : '')
const defaultsOf = (settings: Any[] = []): Scope =>
  Object.fromEntries(settings.filter((each) => each.id).map((each) => [each.id, defaultOf(each)]))
const mapValues = (values: Scope, map: (value: Any) => Any): Scope =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]))

/** A colour as Shopify's object: its text, and its parts. */
function toColor(value: Any): Any {
  const found = typeof value === 'string' ? /^#(..)(..)(..)(..)?$/.exec(value) : null
  if (!found) return value
  const [red, green, blue] = found.slice(1, 4).map((each) => Number.parseInt(each!, 16))
  const alpha = found[4] ? Number.parseInt(found[4], 16) / 255 : 1
  return Object.assign(new String(value), {
    ...{ red, green, blue, alpha },
    rgb: `${red} ${green} ${blue}`,
    rgba: `${red} ${green} ${blue} / ${alpha}`,
  })
}

const font = {
  ...{ family: 'Assistant', fallback_families: 'sans-serif', style: 'normal', weight: 400 },
  'system?': true,
}

const toHandle = (text: unknown): string =>
  String(text ?? '')
    .toLowerCase()
    .replace(/\W+/g, '-')

const link = (title: string, url: string, links: Scope[] = []): Scope => ({
  ...{
    title,
    url,
    links,
    handle: toHandle(title),
    levels: links.length > 0 ? 1 : 0,
    type: 'collection_link',
  },
  ...{ active: false, current: false, child_active: false },
})
const menu: Scope = {
  title: 'Menu',
  levels: 2,
  links: [
    link('Products', '/collections/all', [
      link('New', '/collections/new'),
      link('Gifts', '/collections/gifts'),
    ]),
    link('Cart', '/cart'),
  ],
}

const routes = {
  ...{ root_url: '/', cart_url: '/cart', cart_add_url: '/cart/add', cart_change_url: '/cart/change' },
  ...{ cart_update_url: '/cart/update', search_url: '/search', predictive_search_url: '/search/suggest' },
  product_recommendations_url: '/recommendations/products',
  ...{ all_products_collection_url: '/collections/all', collections_url: '/collections' },
  ...{ account_url: '/account', account_login_url: '/account/login' },
}

const formActions: Record<string, string> = {
  ...{ product: '/cart/add', cart: '/cart', customer: '/contact#ContactFooter', contact: '/contact' },
  localization: '/localization',
}

const sourceOf = (media: Any): string =>
  typeof media === 'string' ? media : (media?.src ?? media?.preview_image?.src ?? '/image.svg')
const nothing = (): string => ''
const unchanged = (value: Any): Any => value

const plainFilters: Record<string, (value: Any, given: Scope, first: Any) => unknown> = {
  asset_url: (name) => `/assets/${name}`,
  shopify_asset_url: (name) => `/assets/${name}`,
  stylesheet_tag: (url) => `<link rel="stylesheet" href="${url}">`,
  preload_tag: nothing,
  money: formatMoney,
  money_with_currency: (value) => `${formatMoney(value)} BRL`,
  money_without_currency: (value) => (Number(value) / 100).toFixed(2),
  money_without_trailing_zeros: formatMoney,
  image_url: sourceOf,
  image_tag: (url, { alt = '', class: name = '', width = 600, height = 600, ref, loading }) =>
    `<img src="${sourceOf(url)}" alt="${alt}" class="${name}" width="${width ?? 600}" height="${height ?? 600}"${ref ? ` ref="${ref}"` : ''}${loading ? ` loading="${loading}"` : ''}>`,
  media_tag: (media) => `<img src="${sourceOf(media)}" alt="" width="600" height="600">`,
  placeholder_svg_tag: () => '<svg class="placeholder-svg" viewBox="0 0 10 10"></svg>',
  handle: toHandle,
  handleize: toHandle,
  payment_button: () => '<div data-shopify="payment-button" class="shopify-payment-button"></div>',
  payment_terms: nothing,
  structured_data: () => '{}',
  standard_event_data: () => '{}',
  json: (value) => JSON.stringify(value ?? null),
  color_brightness: () => 255,
  color_contrast: () => 21,
  color_modify: unchanged,
  color_lighten: unchanged,
  color_darken: unchanged,
  font_face: nothing,
  font_url: nothing,
  font_modify: unchanged,
  ...{
    external_video_url: nothing,
    external_video_tag: nothing,
    video_tag: nothing,
    model_viewer_tag: nothing,
  },
  ...{ default_errors: nothing, default_pagination: nothing, login_button: nothing, avatar: nothing },
  ...{ payment_type_svg_tag: nothing, metafield_tag: unchanged, link_to: unchanged, time_tag: unchanged },
  ...{ format_address: unchanged, weight_with_unit: unchanged, unit_price_with_measurement: unchanged },
  item_count_for_variant: () => 0,
  line_items_for: () => [],
  md5: (value) => toHandle(value),
}
