/** Sanitizing of hostile HTML (product-page, rule 3). */
import { describe, expect, test } from 'vitest'
import { cleanHtml } from '#operations/product-page/html'

const isAsset = (url: string) => url.startsWith('https://cdn.example.com/')
const clean = (html: string) => cleanHtml(html, isAsset)

/** From XSS cheat sheets, and from past holes of sanitizers. */
const vectors = [
  '<script>alert(1)</script>',
  '<SCRIPT SRC=https://evil.example/x.js></SCRIPT>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<img src=x onerror=alert(1)>',
  '<img src="javascript:alert(1)">',
  '<img src=`javascript:alert(1)`>',
  '<img """><script>alert(1)</script>">',
  '<img src=x:alert(alt) onerror=eval(src) alt=0>',
  '<img src="https://cdn.example.com/a.png" onload=alert(1)>',
  '<img src="data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+">',
  '<img srcset="x 1x" src="https://cdn.example.com/a.png" lowsrc="javascript:alert(1)">',
  '<IMG SRC=&#106;&#97;&#118;&#97;&#115;&#99;&#114;&#105;&#112;&#116;&#58;alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="JaVaScRiPt:alert(1)">x</a>',
  '<a href="java\tscript:alert(1)">x</a>',
  '<a href="java\nscript:alert(1)">x</a>',
  '<a href="&#x6A;avascript&colon;alert(1)">x</a>',
  '<a href="&#1;javascript:alert(1)">x</a>',
  '<a href=" javascript:alert(1)">x</a>',
  '<a href="vbscript:msgbox(1)">x</a>',
  '<a href="data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==">x</a>',
  '<a href="//evil.example/">x</a>',
  '<a href="/\\evil.example/">x</a>',
  '<a href="blob:https://evil.example/1">x</a>',
  '<a href="https://ok.example" onclick="alert(1)" onmouseover=alert(1)>x</a>',
  '<a xlink:href="javascript:alert(1)" href="javascript&#58;alert(1)">x</a>',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
  '<svg><style><img src=x onerror=alert(1)></style></svg>',
  '<svg><animate onbegin=alert(1) attributeName=x dur=1s>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<math><a xlink:href="javascript:alert(1)">x</a></math>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="javascript:alert(1)"></object>',
  '<embed src="javascript:alert(1)">',
  '<form action="javascript:alert(1)"><input type=submit></form>',
  '<button formaction="javascript:alert(1)">x</button>',
  '<input autofocus onfocus=alert(1)>',
  '<details open ontoggle=alert(1)>x</details>',
  '<video><source onerror="alert(1)"></video>',
  '<audio src=x onerror=alert(1)>',
  '<body onload=alert(1)>',
  '<link rel=stylesheet href="javascript:alert(1)">',
  '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">',
  '<base href="javascript:alert(1)//">',
  '<style>@import "javascript:alert(1)";</style>',
  '<div style="background-image:url(javascript:alert(1))">x</div>',
  '<div style="width:expression(alert(1))">x</div>',
  '<div style="color:red;behavior:url(x.htc)">x</div>',
  '<div style="color:url(javascript:alert(1))">x</div>',
  '<div style="color:\\65xpression(alert(1))">x</div>',
  '<p style="color:red;}</style><script>alert(1)</script>">x</p>',
  '<div onpointerenter=alert(1)>x</div>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
  '<textarea></textarea/><img src=x onerror=alert(1)></textarea>',
  '<template><script>alert(1)</script></template>',
  '<xmp><img src=x onerror=alert(1)></xmp>',
  '<plaintext><img src=x onerror=alert(1)>',
  '<noembed><img src=x onerror=alert(1)></noembed>',
  '<noframes><img src=x onerror=alert(1)></noframes>',
  '<title><img src=x onerror=alert(1)></title>',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '<![CDATA[<img src=x onerror=alert(1)>]]>',
  '<?xml version="1.0"?><x onclick=alert(1)>y</x>',
  '<a/href="javascript:alert(1)">x</a>',
  '<p/onclick=alert(1)>x</p>',
  '<<script>alert(1)//<</script>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&amp;lt;img src=x onerror=alert(1)&amp;gt;',
  '<p title="<script>alert(1)</script>">x</p>',
  '<a title=\'"><img src=x onerror=alert(1)>\' href="https://ok.example">x</a>',
  '<img alt="`><script>alert(1)</script>" src="https://cdn.example.com/a.png">',
  '<table background="javascript:alert(1)"><tr><td background="javascript:alert(1)">x</td></tr></table>',
  '<isindex action="javascript:alert(1)">',
  '<marquee onstart=alert(1)>x</marquee>',
  '<keygen autofocus onfocus=alert(1)>',
  '<frameset onload=alert(1)>',
  '<bgsound src="javascript:alert(1)">',
  '<custom-element onclick=alert(1)>x</custom-element>',
  '<p id=cookie name=cookie class="x" data-x="y">x</p>',
  '<h1 onclick=alert(1)>x</h1>',
]

const tags = new Set(
  'p br hr h2 h3 h4 strong b em i u s sub sup blockquote ul ol li a img table caption thead tbody tr th td div span figure figcaption code pre'.split(
    ' ',
  ),
)
const attributes: Record<string, readonly string[]> = {
  a: ['href', 'title', 'target', 'rel', 'style'],
  img: ['src', 'alt', 'width', 'height', 'style'],
  th: ['colspan', 'rowspan', 'style'],
  td: ['colspan', 'rowspan', 'style'],
}

/** Parses the result strictly: every `<` must begin an allowed tag. */
function requireHarmless(html: string): void {
  const rest = html.replace(
    /<(\/?)([a-z][a-z0-9]*)((?: [a-z]+(?:="[^"<>]*")?)*)( \/)?>/g,
    (_all, close, name, given) => {
      expect(tags, html).toContain(name)
      if (close) expect(given).toBe('')
      for (const [, attribute, value = ''] of String(given).matchAll(/ ([a-z]+)(?:="([^"<>]*)")?/g)) {
        expect(attributes[name] ?? ['style'], html).toContain(attribute)
        if (attribute === 'href') expect(value).toMatch(/^(https?:\/\/|mailto:|tel:|\/(?![/\\]))/)
        if (attribute === 'src') expect(value).toMatch(/^https:\/\/cdn\.example\.com\//)
        if (attribute === 'style') {
          expect(value).toMatch(/^(?:(?:text-align|color|background-color):[^:;\\]+;?)+$/)
          expect(value).not.toMatch(/url|expression/i)
        }
      }
      return ''
    },
  )
  expect(rest, html).not.toMatch(/[<>]/)
}

describe('hostile HTML', () => {
  test.each(vectors)('%s', (vector) => {
    for (const html of [vector, `<p>before</p>${vector}<p>after</p>`, `<div><b>${vector}</b></div>`]) {
      const harmless = clean(html)
      requireHarmless(harmless)
      expect(clean(harmless)).toBe(harmless)
    }
  })

  test('random combinations are harmless too, and cleaning is idempotent', () => {
    let state = 7
    const next = (below: number) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0
      return Math.floor((state / 4294967296) * below)
    }
    for (let i = 0; i < 600; i += 1) {
      const parts = Array.from({ length: 4 }, () => {
        const vector = vectors[next(vectors.length)]!
        return vector.slice(
          next(3) === 0 ? next(vector.length) : 0,
          vector.length - (next(3) === 0 ? next(9) : 0),
        )
      })
      const harmless = clean(parts.join(''))
      requireHarmless(harmless)
      expect(clean(harmless)).toBe(harmless)
    }
  })
})

describe('HTML of a merchant', () => {
  test.each([
    ['<p onclick=x>Hi<script>a()</script><a href="javascript:x">l</a></p>', '<p>Hi<a>l</a></p>'],
    ['<h1>Título</h1>', '<h2>Título</h2>'],
    ['<article>fica <font color="red">o texto</font></article>', 'fica o texto'],
    ['<form>some</form><p>fica</p>', '<p>fica</p>'],
    ['<a href="https://x.example/?a=1&amp;b=2">x</a>', '<a href="https://x.example/?a=1&amp;b=2">x</a>'],
    ['<a href="/sobre" title="t">x</a>', '<a href="/sobre" title="t">x</a>'],
    ['<a href="mailto:a@b.example">x</a>', '<a href="mailto:a@b.example">x</a>'],
    ['<a href="tel:+5511">x</a>', '<a href="tel:+5511">x</a>'],
    [
      '<a href="https://x.example" target="_BLANK" rel="opener">x</a>',
      '<a href="https://x.example" target="_blank" rel="noopener noreferrer">x</a>',
    ],
    [
      '<img src="https://cdn.example.com/a.png" alt="A" width="10" height="50%" onerror="x">',
      '<img src="https://cdn.example.com/a.png" alt="A" width="10" height="50%" />',
    ],
    ['<img src="https://elsewhere.example/a.png" alt="A">', '<img alt="A" />'],
    [
      '<p style="color: RED; text-align:center; position:fixed">x</p>',
      '<p style="color:RED;text-align:center">x</p>',
    ],
    ['<p style="background-color:rgb(1, 2, 3)">x</p>', '<p style="background-color:rgb(1, 2, 3)">x</p>'],
    ['<td colspan="2" class="x">x</td>', '<td colspan="2">x</td>'],
    ['1 < 2 & 3', '1 &lt; 2 &amp; 3'],
  ])('%s', (html, expected) => {
    expect(clean(html)).toBe(expected)
    expect(clean(expected)).toBe(expected)
  })

  test('deep and long texts are cleaned in time', () => {
    expect(clean('<div>'.repeat(30_000))).toMatch(/^(<div>)*(<\/div>)*$/)
    const long = '<b style="color:red">x</b>'.repeat(7000)
    expect(clean(long)).toBe(long)
  })
})
