# SPDX-License-Identifier: BSD-3-Clause
"""A Sphinx extension: formulas as MathML, which browsers show without a program or a font from elsewhere.

Formulas set off are LaTeX (```math), translated by docutils. Those within a line are Unicode (`θ_m`, `w^(2/3)`), which is
readable everywhere; here their indices are lowered and raised.
"""
import re

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.transforms.post_transforms import SphinxPostTransform

# One letter, perhaps with an accent, then _ or ^ and a short index: letters and digits, or something in brackets.
# Behind a slash only where that divides: λ_i below 1, or below a Greek letter; else it may be a path.
INDEX = re.compile(r"(?:(?<![\w`/.-])|(?<=\d/)|(?<=/)(?=[α-ωΑ-Ω])|(?<=ᵀ))([^\W\d_]\u0304?\u0302?|[)‖|])([_^])(\{[^{}]+\}|\([^()]+\)|[−-]?[\w⋆*]{1,5}?(?![^\W\d_²³ᵀ⁻¹½]))")


# A letter with an accent and an index, which docutils puts below the letter as if it were a sum.
ACCENT = re.compile(r"<munderover>\s*(<mi>.</mi>)\s*(<mi>.</mi>)\s*(<mo[^>]*>.</mo>)\s*</munderover>")
# Norms and inner products are as high as a line; browsers would stretch each sign to what stands beside it.
STRETCHED = re.compile(r"<mo[^>]*>([‖⟨⟩])</mo>")


def as_mathml(latex, inline):
    mathml = latex2mathml.tex2mathml(latex, inline=inline)
    mathml = ACCENT.sub(r"<msub><mover>\1\3</mover>\2</msub>", mathml)
    return STRETCHED.sub(r'<mo stretchy="false">\1</mo>', mathml)


def visit_inline(self, node):
    self.body.append(as_mathml(node.astext(), True))
    raise nodes.SkipNode


def visit_block(self, node):
    self.body.append(f'<div class="formula">{as_mathml(node.astext(), False)}</div>')
    raise nodes.SkipNode


class Indices(SphinxPostTransform):
    """λ_i in a text becomes λ with a small i below."""

    default_priority = 900
    formats = ("html",)

    def run(self):
        for leaf in list(self.document.findall(nodes.Text)):
            if self._is_prose(leaf) and (pieces := self._pieces(leaf.astext())):
                leaf.parent.replace(leaf, pieces)

    @staticmethod
    def _is_prose(leaf):
        above = leaf.parent
        while above is not None and not isinstance(above, nodes.document):
            if isinstance(above, (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.title, nodes.raw,
                                  nodes.comment, nodes.Invisible)) or above.tagname.startswith("desc"):
                return False
            above = above.parent
        return True

    @staticmethod
    def _pieces(words):
        pieces, end = [], 0
        for match in INDEX.finditer(words):
            index = match.group(3)
            index = index[1:-1] if index[0] in "{(" else index
            kind = nodes.subscript if match.group(2) == "_" else nodes.superscript
            pieces += [nodes.Text(words[end:match.start()] + match.group(1)), kind(index, index)]
            end = match.end()
        return pieces + [nodes.Text(words[end:])] if pieces else None


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.add_post_transform(Indices)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
