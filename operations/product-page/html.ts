/** Sanitizes HTML written by merchants (rule 3). Pure: the caller decides which picture URLs are allowed. */
import { createRequire } from 'node:module'
import type sanitizeHtml from 'sanitize-html'
import { isLinkUrl } from '#operations/storefront/index'

const require = createRequire(import.meta.url)

const permittedTags =
  'p br hr h2 h3 h4 strong b em i u s sub sup blockquote ul ol li a img table caption thead tbody tr th td div span figure figcaption code pre'
const droppedWithContent = 'script style iframe object embed form svg math template noscript textarea'

/** Sanitizes HTML. `isAsset` decides whether a picture's URL is allowed. */
export function cleanHtml(html: string, isAsset: (url: string) => boolean): string {
  // Loaded on first use, because the library includes a CSS parser.
  const sanitize: typeof sanitizeHtml = require('sanitize-html')
  const options = buildOptions(isAsset)
  let clean = html
  // Repeats until nothing changes, so that text of one pass cannot become a tag when the result is sanitized again.
  for (let pass = 0; pass < passesAtMost; pass += 1) {
    const again = sanitize(clean, options)
    if (again === clean) return clean
    clean = again
  }
  return sanitize(clean, { ...options, allowedTags: [] })
}

const passesAtMost = 6

/** The URLs of all pictures, including those that sanitizing would remove. */
export function listPictures(html: string): string[] {
  if (!/<img/i.test(html)) return []
  const found = new Set<string>()
  cleanHtml(html, (url) => {
    found.add(url)
    return true
  })
  return [...found]
}

function buildOptions(isAsset: (url: string) => boolean): sanitizeHtml.IOptions {
  return {
    allowedTags: permittedTags.split(' '),
    nonTextTags: droppedWithContent.split(' '),
    allowedAttributes: {
      '*': ['style'],
      a: ['href', 'title', 'target', 'rel'],
      img: ['src', 'alt', 'width', 'height'],
      th: ['colspan', 'rowspan'],
      td: ['colspan', 'rowspan'],
    },
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowProtocolRelative: false,
    parseStyleAttributes: false,
    transformTags: {
      h1: 'h2',
      '*': (tagName, attributes) => ({ tagName, attribs: filterAttributes(tagName, attributes, isAsset) }),
    },
  }
}

type Attributes = Record<string, string>

function filterAttributes(tag: string, given: Attributes, isAsset: (url: string) => boolean): Attributes {
  const { style, href, src, target, rel: _ours, ...others } = given
  const allowed: Attributes = {}
  if (tag === 'a' && href !== undefined && isLinkUrl(href)) allowed.href = href
  if (tag === 'img' && src !== undefined && isAsset(src)) allowed.src = src
  for (const [name, value] of Object.entries(others)) {
    if (!numeric.has(name) || numberPattern.test(value)) allowed[name] = value
  }
  if (tag === 'a' && target) {
    allowed.target = target.toLowerCase()
    // Not only `_blank`: a window with any other name can access its opener as well.
    if (!sameWindow.has(allowed.target)) allowed.rel = 'noopener noreferrer'
  }
  const plain = style === undefined ? '' : filterStyle(style)
  if (plain !== '') allowed.style = plain
  return allowed
}

const numeric = new Set(['width', 'height', 'colspan', 'rowspan'])
const numberPattern = /^\d{1,4}%?$/
const sameWindow = new Set(['_self', '_parent', '_top'])

const colourPattern =
  /^(?:#(?:[0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})|[a-z]{3,30}|(?:rgb|hsl)a?\([\d\s.,%/]{1,40}\))$/i
const allowedValues: Readonly<Record<string, RegExp>> = {
  'text-align': /^(?:left|right|center|justify|start|end)$/i,
  color: colourPattern,
  'background-color': colourPattern,
}

/** Keeps only style declarations for colour and alignment. */
function filterStyle(style: string): string {
  const declarations: string[] = []
  for (const declaration of style.split(';')) {
    const colon = declaration.indexOf(':')
    const name = declaration.slice(0, Math.max(0, colon)).trim().toLowerCase()
    const value = declaration.slice(colon + 1).trim()
    if (Object.hasOwn(allowedValues, name) && allowedValues[name]!.test(value)) {
      declarations.push(`${name}:${value}`)
    }
  }
  return declarations.join(';')
}
